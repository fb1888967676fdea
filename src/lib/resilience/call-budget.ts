import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { abortError } from '../deadline.ts';
import { OwnLimitError } from './own-limit.ts';

/** How many calls go out: a steady rate, and a burst after a quiet time (a token bucket). */
export interface CallBudget {
  /**
   * Waits for this caller's turn. Turns are given out in the order of asking; whoever's would come too late is told so
   * at once. A caller that is aborted while it waits gives its turn back.
   *
   * @throws OwnLimitError when the turn would come later than `maxWaitMs`
   */
  take(signal: AbortSignal): Promise<void>;
  stats(): { readonly available: number; readonly waiting: number; readonly refused: number };
}

export interface CallBudgetOptions {
  readonly clock: Clock;
  readonly callsPerSecond: number;
  readonly burst: number;
  readonly maxWaitMs?: number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function createCallBudget(options: CallBudgetOptions): CallBudget {
  const { clock, callsPerSecond, burst, maxWaitMs = 2_000, sleep = sleepUntilAborted } = options;
  // Negative while callers wait: each has its token already, and its turn is when the balance would be zero again.
  let tokens = burst;
  let refilledAt = clock.monotonic();
  let waiting = 0;
  let refused = 0;

  function refill(): void {
    const now = clock.monotonic();
    tokens = Math.min(burst, tokens + ((now - refilledAt) / 1000) * callsPerSecond);
    refilledAt = now;
  }

  return {
    async take(signal) {
      if (signal.aborted) throw abortError(signal);
      refill();
      const waitMs = Math.max(0, ((1 - tokens) / callsPerSecond) * 1000);
      if (waitMs > maxWaitMs) {
        refused += 1;
        throw new OwnLimitError('Too many calls are waiting for the upstream: its own budget is spent.', waitMs);
      }
      tokens -= 1;
      if (waitMs === 0) return;
      waiting += 1;
      try {
        await sleep(waitMs, signal);
      } catch (error) {
        tokens += 1;
        throw signal.aborted ? abortError(signal) : error;
      } finally {
        waiting -= 1;
      }
    },
    stats() {
      refill();
      return { available: Math.max(0, Math.floor(tokens)), waiting, refused };
    },
  };
}

async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal });
}
