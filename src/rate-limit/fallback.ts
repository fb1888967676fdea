import type { Clock } from '../lib/clock.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import type { RateLimit, RateLimitBudget, RateLimitDecision, RateLimiter } from './limiter.ts';
import type { MemoryRateLimiter } from './memory.ts';

export interface SharedRateLimiter {
  /**
   * Like `RateLimiter.hit`, but with `mayAdmit` false the request is refused and not counted, whatever is left.
   *
   * @throws RedisUnavailable
   */
  hit(client: string, limit: RateLimit, mayAdmit: boolean): Promise<RateLimitDecision>;
  close(): Promise<void>;
}

export interface FallbackRateLimiterOptions {
  /** Of all instances. */
  readonly shared: SharedRateLimiter;
  /** Of this process. */
  readonly own: Pick<MemoryRateLimiter, 'budget' | 'add' | 'close'>;
  readonly clock: Clock;
}

export interface FallbackRateLimiter extends RateLimiter {
  stats(): {
    /** Requests that this process has decided alone, since the start. */
    readonly decidedAlone: number;
    /** Clients with requests that Redis is deciding at the moment. */
    readonly undecidedClients: number;
  };
}

/**
 * The limit of all instances together; while Redis cannot decide, the same numbers for each instance alone.
 *
 * A request is admitted where this process's own log and the shared one both have room, and only then counted, in both.
 * So neither an outage of Redis nor the loss of its logs gives a client a new budget here, and a client that is refused
 * need not wait longer for having asked.
 */
export function createFallbackRateLimiter({ shared, own, clock }: FallbackRateLimiterOptions): FallbackRateLimiter {
  let decidedAlone = 0;
  /** How many places in a client's own log are taken by requests that Redis is deciding. */
  const reserved = new Map<string, number>();

  async function decideTogether(
    client: string,
    limit: RateLimit,
    mayAdmit: boolean,
  ): Promise<RateLimitDecision | undefined> {
    try {
      return await shared.hit(client, limit, mayAdmit);
    } catch (error) {
      if (error instanceof RedisUnavailable) return undefined;
      throw error;
    }
  }

  function reserve(key: string, places: 1 | -1): void {
    const count = (reserved.get(key) ?? 0) + places;
    if (count === 0) reserved.delete(key);
    else reserved.set(key, count);
  }

  /** With a place in the own log, as long as Redis takes to decide. */
  async function decideWithPlace(client: string, limit: RateLimit, key: string) {
    reserve(key, 1);
    try {
      return await decideTogether(client, limit, true);
    } finally {
      reserve(key, -1);
    }
  }

  return {
    async hit(client, limit) {
      const arrivedAtMs = clock.monotonic();
      const key = `${limit.requests}/${limit.windowMs}:${client}`;
      const hasPlace = own.budget(client, limit).remaining > (reserved.get(key) ?? 0);
      const together = hasPlace
        ? await decideWithPlace(client, limit, key)
        : await decideTogether(client, limit, false);
      if (together === undefined) decidedAlone += 1;
      const isAllowed = hasPlace && together?.isAllowed !== false;
      // Counted as of its arrival: the own log must not keep a client waiting for longer than the shared one.
      if (isAllowed) own.add(client, limit, arrivedAtMs);
      const budget = tighter(own.budget(client, limit), together);
      return isAllowed ? { isAllowed, ...budget } : { isAllowed, ...refusal(budget) };
    },
    stats: () => ({ decidedAlone, undecidedClients: reserved.size }),
    async close() {
      await Promise.all([shared.close(), own.close()]);
    },
  };
}

/** What both logs leave: the next request is free once it is in both. */
function tighter(alone: RateLimitBudget, together: RateLimitBudget = alone): RateLimitBudget {
  const remaining = Math.min(alone.remaining, together.remaining);
  const deciding = [alone, together].filter((budget) => budget.remaining === remaining);
  return { remaining, resetMs: Math.max(...deciding.map(({ resetMs }) => resetMs)) };
}

/** A place that became free while Redis decided is there at once. */
function refusal({ remaining, resetMs }: RateLimitBudget): RateLimitBudget {
  return { remaining: 0, resetMs: remaining > 0 ? 1 : resetMs };
}
