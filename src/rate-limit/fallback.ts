import type { Clock } from '../lib/clock.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import type { RateLimit, RateLimitBudget, RateLimitDecision } from './limiter.ts';
import type { MemoryRateLimiter } from './memory.ts';

export interface SharedRateLimiter {
  /**
   * Like `RateLimiter.hit`. With `mayAdmit` false the request is rejected and not counted, even if budget is left.
   *
   * @throws RedisUnavailable
   */
  hit(client: string, limit: RateLimit, mayAdmit: boolean): Promise<RateLimitDecision>;
}

export interface FallbackRateLimiterOptions {
  readonly shared: SharedRateLimiter;
  readonly local: Pick<MemoryRateLimiter, 'budget' | 'add'>;
  readonly clock: Clock;
}

/**
 * The limit of all instances together. While Redis is unavailable, each instance applies the same limit locally.
 *
 * A request is admitted only if the local log and the shared log both have room, and is then counted in both. So an outage
 * of Redis, or the loss of its logs, does not give a client a new budget, and rejected requests do not extend the wait.
 */
export function createFallbackRateLimiter({ shared, local, clock }: FallbackRateLimiterOptions) {
  let decidedAlone = 0;
  /** How many places in a client's local log are reserved for requests that Redis is deciding. */
  const reserved = new Map<string, number>();

  function reserve(key: string, places: 1 | -1): void {
    const count = (reserved.get(key) ?? 0) + places;
    if (count === 0) reserved.delete(key);
    else reserved.set(key, count);
  }

  return {
    /** Like `RateLimiter.hit`. */
    async hit(client: string, limit: RateLimit): Promise<RateLimitDecision> {
      const arrivedAtMs = clock.monotonic();
      const key = `${limit.requests}/${limit.windowMs}:${client}`;
      const hasPlace = local.budget(client, limit).remaining > (reserved.get(key) ?? 0);
      let together: RateLimitDecision | undefined;
      // A place in the local log is reserved while Redis decides.
      if (hasPlace) reserve(key, 1);
      try {
        together = await shared.hit(client, limit, hasPlace);
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        decidedAlone += 1;
      } finally {
        if (hasPlace) reserve(key, -1);
      }
      const isAllowed = hasPlace && together?.isAllowed !== false;
      // Counted at its arrival time, so that the local log does not wait longer than the shared log.
      const left = isAllowed ? local.add(client, limit, arrivedAtMs) : local.budget(client, limit);
      const budget = tighter(left, together);
      return isAllowed ? { ...budget, isAllowed } : refusal(budget);
    },

    /** Requests since the start that this process decided without Redis, and clients with requests that Redis is deciding. */
    stats: () => ({ decidedAlone, undecidedClients: reserved.size }),
  };
}

/** The budget that both logs allow. */
function tighter(local: RateLimitBudget, shared: RateLimitBudget = local): RateLimitBudget {
  if (local.remaining !== shared.remaining) return local.remaining < shared.remaining ? local : shared;
  return { remaining: local.remaining, resetMs: Math.max(local.resetMs, shared.resetMs) };
}

/** A place that became free while Redis decided is available at once. */
function refusal({ remaining, resetMs }: RateLimitBudget): RateLimitDecision {
  return { isAllowed: false, remaining: 0, resetMs: remaining > 0 ? 1 : resetMs };
}
