import type { Clock } from '../lib/clock.ts';
import { createClientLogs, NONE } from './client-logs.ts';
import type { RateLimit, RateLimitBudget, RateLimitDecision, RateLimiter } from './limiter.ts';

interface MemoryRateLimiterOptions {
  readonly clock: Clock;
  /** The most clients to store. Clients with the most budget left are evicted first, refused clients last. Default: a million. */
  readonly maxClients?: number;
}

const DEFAULT_MAX_CLIENTS = 1_000_000;

/** More than ten, so that each count under the default limit has its own rank. The top rank has the clients without budget. */
const TOP_RANK = 16;
const RANK_COUNT = TOP_RANK + 1;
/** Each decision sweeps one rank and adds at most one client. With twice the ranks, clients are removed faster than added. */
const MAX_SWEPT_PER_VISIT = 2 * RANK_COUNT;

/**
 * Decides in this process from a log of each client's admitted requests: no span of `windowMs` contains more than
 * `requests` of them. A client under two limits (an override inside its IPv6 network) has a log for each.
 */
export interface MemoryRateLimiter extends RateLimiter {
  hit(client: string, limit: RateLimit): RateLimitDecision;
  /** Returns the client's budget without counting a request. */
  budget(client: string, limit: RateLimit): RateLimitBudget;
  /** Forgets the client's newest request, which another limiter has rejected. */
  takeBack(client: string, limit: RateLimit): void;
  /** The stored clients (expired ones wait to be removed), and those evicted because of `maxClients` since the start. */
  stats(): {
    readonly entries: number;
    readonly bytes: number;
    readonly maxEntries: number;
    readonly evicted: number;
  };
}

export function createMemoryRateLimiter(options: MemoryRateLimiterOptions): MemoryRateLimiter {
  const { clock, maxClients = DEFAULT_MAX_CLIENTS } = options;
  /** Ranked by limit and used budget. In each rank the client whose last admitted request is oldest comes first. */
  const logs = createClientLogs(maxClients);
  /** By number, in the order of their first use. The settings bound how many there are. */
  const limits: RateLimit[] = [];
  let evicted = 0;
  let visits = 0;

  function numberOf(limit: RateLimit): number {
    for (let number = 0; number < limits.length; number += 1) {
      const known = limits[number] as RateLimit;
      if (known.requests === limit.requests && known.windowMs === limit.windowMs) return number;
    }
    return limits.push({ requests: limit.requests, windowMs: limit.windowMs }) - 1;
  }

  /** The rank among those of all limits. */
  function rankOf(limit: number, rank: number): number {
    return limit * RANK_COUNT + rank;
  }

  function findOrAddLog(limit: number, client: string, nowMs: number): number {
    const known = logs.find(client, limit);
    if (known !== NONE) return known;
    if (logs.stats().entries >= maxClients) evictOne(nowMs);
    return logs.add(client, limit);
  }

  function dropExpired(log: number, windowMs: number, nowMs: number): void {
    while (logs.length(log) > 0 && nowMs - logs.oldest(log) >= windowMs) logs.shift(log);
  }

  function budgetOf(log: number, { requests, windowMs }: RateLimit, nowMs: number): RateLimitBudget {
    const used = logs.length(log);
    return { remaining: requests - used, resetMs: used === 0 ? 0 : windowMs - (nowMs - logs.oldest(log)) };
  }

  function push(log: number, limit: number, atMs: number): void {
    logs.push(log, atMs);
    const { requests } = limits[limit] as RateLimit;
    logs.place(log, rankOf(limit, Math.floor((logs.length(log) * TOP_RANK) / requests)));
  }

  function isExpired(log: number, limit: number, nowMs: number): boolean {
    return nowMs - logs.newest(log) >= (limits[limit] as RateLimit).windowMs;
  }

  function evictOne(nowMs: number): void {
    for (let rank = 0; rank < RANK_COUNT; rank += 1) {
      for (let limit = 0; limit < limits.length; limit += 1) {
        const log = logs.first(rankOf(limit, rank));
        if (log === NONE) continue;
        if (!isExpired(log, limit, nowMs)) evicted += 1;
        logs.remove(log);
        return;
      }
    }
  }

  /** Removes expired clients from one rank of one limit. The next call takes the next rank. */
  function sweepNextRank(nowMs: number): void {
    const limit = visits % limits.length;
    const rank = rankOf(limit, Math.floor(visits / limits.length) % RANK_COUNT);
    visits += 1;
    for (let swept = 0; swept < MAX_SWEPT_PER_VISIT * limits.length; swept += 1) {
      const log = logs.first(rank);
      if (log === NONE || !isExpired(log, limit, nowMs)) return;
      logs.remove(log);
    }
  }

  return {
    hit(client, limit) {
      const nowMs = clock.monotonic();
      const number = numberOf(limit);
      sweepNextRank(nowMs);
      const log = findOrAddLog(number, client, nowMs);
      dropExpired(log, limit.windowMs, nowMs);
      const isAllowed = logs.length(log) < limit.requests;
      if (isAllowed) push(log, number, nowMs);
      return { ...budgetOf(log, limit, nowMs), isAllowed };
    },

    budget(client, limit) {
      const log = logs.find(client, numberOf(limit));
      if (log === NONE) return { remaining: limit.requests, resetMs: 0 };
      const nowMs = clock.monotonic();
      dropExpired(log, limit.windowMs, nowMs);
      return budgetOf(log, limit, nowMs);
    },

    takeBack(client, limit) {
      const log = logs.find(client, numberOf(limit));
      if (log === NONE || logs.length(log) === 0) return;
      logs.pop(log);
      if (logs.length(log) === 0) logs.remove(log);
    },

    stats: () => ({ ...logs.stats(), maxEntries: maxClients, evicted }),
  };
}
