import type { Clock } from '../lib/clock.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import type { RateLimit, RateLimitDecision, RateLimiter } from './limiter.ts';

export interface FallbackRateLimiterOptions {
  /** Of all instances. */
  readonly shared: RateLimiter;
  /** Of this process. */
  readonly own: { hit(client: string, limit: RateLimit): RateLimitDecision; close(): Promise<void> };
  readonly clock: Clock;
}

export interface FallbackRateLimiter extends RateLimiter {
  stats(): {
    /** Requests that this process has decided alone, since the start. */
    readonly decidedAlone: number;
  };
}

/**
 * The limit of all instances together; while that cannot be had, the same numbers for each instance alone.
 *
 * What was admitted together counts in this process's own log too, so that an outage gives nobody a new budget here; and
 * for one window after an outage both logs have to agree, so that its end does not either.
 */
export function createFallbackRateLimiter({ shared, own, clock }: FallbackRateLimiterOptions): FallbackRateLimiter {
  let decidedAlone = 0;
  let lastDecidedAloneAtMs = Number.NEGATIVE_INFINITY;

  async function decideTogether(client: string, limit: RateLimit): Promise<RateLimitDecision | undefined> {
    try {
      return await shared.hit(client, limit);
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  return {
    async hit(client, limit) {
      const together = await decideTogether(client, limit);
      if (together?.isAllowed === false) return together;
      const alone = own.hit(client, limit);
      const nowMs = clock.monotonic();
      if (together === undefined) {
        decidedAlone += 1;
        lastDecidedAloneAtMs = nowMs;
        return alone;
      }
      const isAfterOutage = nowMs - lastDecidedAloneAtMs < limit.windowMs;
      return isAfterOutage && alone.remaining <= together.remaining ? alone : together;
    },
    stats: () => ({ decidedAlone }),
    async close() {
      await Promise.all([shared.close(), own.close()]);
    },
  };
}
