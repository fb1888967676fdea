import { RedisUnavailable } from '../lib/redis/connection.ts';
import type { RateLimit, RateLimitBudget, RateLimitDecision, SharedRateLimiter } from './limiter.ts';
import type { MemoryRateLimiter } from './memory.ts';

interface FallbackRateLimiterOptions {
  readonly shared: SharedRateLimiter;
  readonly local: Pick<MemoryRateLimiter, 'hit' | 'budget' | 'takeBack'>;
}

/**
 * The limit of all instances together. While Redis is unavailable, each instance applies the same limit locally.
 *
 * A request is admitted only if the local log and the shared log both have room, and is then counted in both. So an outage
 * of Redis, or the loss of its logs, does not give a client a new budget, and rejected requests do not extend the wait.
 */
export function createFallbackRateLimiter({ shared, local }: FallbackRateLimiterOptions) {
  let decidedAlone = 0;

  return {
    /** Like `RateLimiter.hit`. */
    async hit(client: string, limit: RateLimit): Promise<RateLimitDecision> {
      // Counted before Redis decides, so that no other request takes its place in the local log meanwhile.
      const own = local.hit(client, limit);
      let together: RateLimitDecision | undefined;
      let isAllowed = false;
      try {
        together = await shared.hit(client, limit, own.isAllowed);
        isAllowed = own.isAllowed && together.isAllowed;
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        decidedAlone += 1;
        isAllowed = own.isAllowed;
      } finally {
        if (own.isAllowed && !isAllowed) local.takeBack(client, limit);
      }
      return isAllowed
        ? { ...smallerBudget(own, together), isAllowed }
        : refusal(smallerBudget(local.budget(client, limit), together));
    },

    /** Requests since the start that this process decided without Redis. */
    stats: () => ({ decidedAlone }),
  };
}

/** The smaller of both budgets. */
function smallerBudget(local: RateLimitBudget, shared: RateLimitBudget = local): RateLimitBudget {
  if (local.remaining !== shared.remaining) return local.remaining < shared.remaining ? local : shared;
  return { remaining: local.remaining, resetMs: Math.max(local.resetMs, shared.resetMs) };
}

/** If a request became free while Redis decided, the client may try again at once. */
function refusal({ remaining, resetMs }: RateLimitBudget): RateLimitDecision {
  return { isAllowed: false, remaining: 0, resetMs: remaining > 0 ? 1 : resetMs };
}
