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

export function createCallBudget({ clock, callsPerSecond }: CallBudgetOptions): CallBudget {
  const callMs = 1000 / callsPerSecond;
  const burst = BURST_SECONDS * callsPerSecond;
  const maxEntries = Math.min(MAX_WAITING, Math.ceil(MAX_WAIT_MS / callMs));
  /** The call whose turn it is has the only place until there is a token for it. */
  const turns = createRoundRobin({ places: ['turn'], maxWaitMs: MAX_WAIT_MS + LATE_TIMER_MS, clock, refusal });
  /** When the bucket is full. Each call that is made takes the token of `callMs`. */
  let fullAtMs = clock.monotonic();

  const msUntilFull = () => Math.max(0, fullAtMs - clock.monotonic());

  /** The time until there are so many tokens, 0 if there are now. */
  function msUntil(tokens: number): number {
    return Math.max(0, msUntilFull() - (burst - tokens) * callMs);
  }

  async function takeToken(signal: AbortSignal): Promise<void> {
    const waitMs = msUntil(1);
    const filled = () => new Promise<void>((resolve) => clock.after(waitMs, resolve));
    if (waitMs > 0) await withDeadline(clock, MAX_WAIT_MS, signal, filled);
    fullAtMs = clock.monotonic() + msUntilFull() + callMs;
  }

  const entries = () => turns.waiting() + turns.running();

  /** The error of a call that gets no turn. Its `retryAfterMs` ends when the call would have had one. */
  function refusal(): NotSentError {
    return new NotSentError('Too many calls wait for their turn. Try again.', msUntil(entries() + 1));
  }

  return {
    async take(client, signal) {
      const tokens = Math.max(0, Math.floor(burst - msUntilFull() / callMs));
      // The calls of a burst do not wait, even if they arrive before the first one has its token. One call has the place.
      const maxWaiting = maxEntries + tokens - 1;
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
