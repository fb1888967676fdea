import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import { withDeadline } from '../deadlines.ts';
import type { BoundedStats } from '../metrics.ts';
import type { ClientKeys } from '../request-scope.ts';
import { createRoundRobin } from '../round-robin.ts';

interface CallBudgetOptions {
  readonly clock: Clock;
  readonly callsPerSecond: number;
}

/** Limits the calls to one upstream with a token bucket. While calls wait, networks take turns, and so do their clients. */
export interface CallBudget {
  /**
   * Waits for this call's turn.
   *
   * @param client whose request needs the call
   * @throws NotSentError if it has no turn within 2 s, or if too many calls wait and most of them are this client's
   */
  take(client: ClientKeys, signal: AbortSignal): Promise<void>;
  waiting(): BoundedStats;
}

/** After a quiet time, the calls of so many seconds may be made at once. */
const BURST_SECONDS = 10;
/** As many calls may wait as can be made in this time. */
const MAX_WAIT_MS = 2_000;
/** The last call of those that may wait has its turn even if the timer for it is late. */
const LATE_TIMER_MS = 100;
/** Among so many calls, the next one is found in less than a millisecond. */
const MAX_WAITING = 1_000;
/** A token counts as complete if less than this is missing, because fractions are added up. */
const ROUNDING = 1e-6;

export function createCallBudget({ clock, callsPerSecond }: CallBudgetOptions): CallBudget {
  const capacity = BURST_SECONDS * callsPerSecond;
  const maxEntries = Math.min(MAX_WAITING, Math.ceil((callsPerSecond * MAX_WAIT_MS) / 1000));
  /** The call whose turn it is has the only place until there is a token for it. */
  const turns = createRoundRobin({ places: ['turn'], maxWaitMs: MAX_WAIT_MS + LATE_TIMER_MS, clock, refusal });
  let tokens = capacity;
  let filledAtMs = clock.monotonic();

  function fill(): void {
    const nowMs = clock.monotonic();
    tokens = Math.min(capacity, tokens + ((nowMs - filledAtMs) / 1000) * callsPerSecond);
    filledAtMs = nowMs;
  }

  /** The time until so many tokens are complete, 0 if they are now. */
  function msUntil(wanted: number): number {
    fill();
    const missing = wanted - tokens;
    return missing < ROUNDING ? 0 : (missing / callsPerSecond) * 1000;
  }

  async function takeToken(signal: AbortSignal): Promise<void> {
    const waitMs = msUntil(1);
    const filled = () => new Promise<void>((resolve) => clock.after(waitMs, resolve));
    if (waitMs > 0) await withDeadline(clock, MAX_WAIT_MS, signal, filled);
    fill();
    tokens = Math.max(0, tokens - 1);
  }

  const entries = () => turns.waiting() + turns.running();

  /** The error of a call that gets no turn. Its `retryAfterMs` ends when the call would have had one. */
  function refusal(): NotSentError {
    return new NotSentError('Too many calls wait for their turn. Try again.', msUntil(entries() + 1));
  }

  return {
    async take(client, signal) {
      fill();
      // The calls of a burst do not wait, even if they arrive before the first one has its token. One call has the place.
      const maxWaiting = maxEntries + Math.floor(tokens + ROUNDING) - 1;
      await turns.run({ client, signal, maxWaiting }, () => takeToken(signal));
    },
    waiting: () => ({ entries: entries(), maxEntries }),
  };
}

/** A call that was not sent: its turn did not come in time, or a breaker is open. It says nothing about the other side. */
export class NotSentError extends AppError {
  constructor(message: string, retryAfterMs: number) {
    super('upstream_unavailable', message, { retryAfterMs });
    this.name = 'NotSentError';
  }
}
