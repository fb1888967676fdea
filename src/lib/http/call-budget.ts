import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import type { BoundedStats } from '../metrics.ts';
import type { ClientKeys } from '../request-scope.ts';
import { createRoundRobin } from '../round-robin.ts';
import { createTokenBucket } from '../token-bucket.ts';

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
  const capacity = BURST_SECONDS * callsPerSecond;
  const tokens = createTokenBucket({ perSecond: callsPerSecond, capacity, nowMs: clock.monotonic() });
  const maxLength = Math.min(MAX_WAITING, Math.ceil((callsPerSecond * MAX_WAIT_MS) / 1000));
  const queue = createRoundRobin<undefined, void>({ maxWaitMs: MAX_WAIT_MS + LATE_TIMER_MS, clock, refusal });

  /** The error of a call that gets no turn. Its `retryAfterMs` ends when the call would have had one. */
  function refusal(): NotSentError {
    const waitMs = tokens.msUntil(queue.size + 1, clock.monotonic());
    return new NotSentError('Too many calls wait for their turn. Try again.', waitMs);
  }

  async function grantCalls(): Promise<never> {
    for (;;) {
      await waitForToken();
      tokens.take(clock.monotonic());
      const { settle } = await queue.take();
      await settle(Promise.resolve());
    }
  }

  async function waitForToken(): Promise<void> {
    const waitMs = tokens.msUntil(1, clock.monotonic());
    if (waitMs > 0) await new Promise<void>((resolve) => clock.after(waitMs, resolve));
  }

  void grantCalls();
  return {
    // The calls of a burst do not wait, even if they arrive before the loop has taken the first one.
    take: (client, signal) => queue.submit(client, undefined, signal, maxLength + tokens.available(clock.monotonic())),
    waiting: () => ({ entries: queue.size, maxEntries: maxLength }),
  };
}

/** A call that was not sent: its turn did not come in time, or a breaker is open. It says nothing about the other side. */
export class NotSentError extends AppError {
  constructor(message: string, retryAfterMs: number) {
    super('upstream_unavailable', message, { retryAfterMs });
    this.name = 'NotSentError';
  }
}
