import type { Clock } from '../lib/clock.ts';
import { compactCopy } from '../lib/compact-copy.ts';
import { createRankedLists, type Ranked, type RankedLists, UNRANKED } from '../lib/ranked-lists.ts';
import { createShardedMap, type ShardedMap } from '../lib/sharded-map.ts';
import type { RateLimit, RateLimitBudget, RateLimitDecision, RateLimiter } from './limiter.ts';
import { createTimeQueues, NO_CELL, type TimeQueue } from './time-queues.ts';

export interface MemoryRateLimiterStats {
  /** Clients kept now; some may have expired and not been swept yet. */
  readonly clients: number;
  /** Clients forgotten before their time because `maxClients` was reached, since the start. */
  readonly evicted: number;
}

export interface MemoryRateLimiter extends RateLimiter {
  hit(client: string, limit: RateLimit): RateLimitDecision;
  /** What the client has left now; counts nothing. */
  budget(client: string, limit: RateLimit): RateLimitBudget;
  /** Counts a request that was admitted elsewhere; one that is older than the newest is counted as of that one. */
  add(client: string, limit: RateLimit, atMs: number): void;
  stats(): MemoryRateLimiterStats;
}

export interface MemoryRateLimiterOptions {
  readonly clock: Clock;
  /** Clients kept at most; when full, those with the most budget left are forgotten first, blocked ones last. */
  readonly maxClients?: number;
}

const DEFAULT_MAX_CLIENTS = 1_000_000;

/** A client's log: the times of its admitted requests that are still inside the window. */
interface ClientLog extends TimeQueue, Ranked<ClientLog> {
  readonly key: string;
}

/** All clients under one limit. A client that has two (an override inside its IPv6 network) has two logs. */
interface LimitGroup extends RateLimit {
  readonly logs: ShardedMap<ClientLog>;
  /** By used budget; within a rank the client whose last admitted request is oldest comes first. */
  readonly ranks: RankedLists<ClientLog>;
}

/** Finer than tenths, so that each count under the default limit has its own rank; the top one means "blocked". */
const TOP_RANK = 16;
const RANK_COUNT = TOP_RANK + 1;
/** A decision visits one rank and adds at most one client: twice the ranks, and sweeping always outruns adding. */
const MAX_SWEPT_PER_VISIT = 2 * RANK_COUNT;

/**
 * Decides in this process, from a log of each client's admitted times: no span of `windowMs`, wherever it starts, holds
 * more than `requests` of them. `hit` answers at once.
 */
export function createMemoryRateLimiter(options: MemoryRateLimiterOptions): MemoryRateLimiter {
  const { clock, maxClients = DEFAULT_MAX_CLIENTS } = options;
  const queues = createTimeQueues();
  const groups: LimitGroup[] = [];
  let clients = 0;
  let evicted = 0;
  let visits = 0;

  function groupOf(limit: RateLimit): LimitGroup {
    for (const group of groups) {
      if (group.requests === limit.requests && group.windowMs === limit.windowMs) return group;
    }
    const group = createGroup(limit);
    groups.push(group);
    return group;
  }

  function logOf(group: LimitGroup, client: string, nowMs: number): ClientLog {
    const known = group.logs.get(client);
    if (known !== undefined) return known;
    if (clients >= maxClients) evictOne(nowMs);
    const log = createLog(compactCopy(client));
    group.logs.set(log.key, log);
    clients += 1;
    return log;
  }

  function dropExpired(group: LimitGroup, log: ClientLog, nowMs: number): void {
    while (log.length > 0 && nowMs - queues.oldest(log) >= group.windowMs) queues.shift(log);
  }

  function push(group: LimitGroup, log: ClientLog, atMs: number): void {
    queues.push(log, atMs);
    group.ranks.place(log, Math.floor((log.length * TOP_RANK) / group.requests));
  }

  function forget(group: LimitGroup, log: ClientLog): void {
    queues.clear(log);
    group.ranks.remove(log);
    group.logs.delete(log.key);
    clients -= 1;
  }

  function isExpired(group: LimitGroup, log: ClientLog, nowMs: number): boolean {
    return nowMs - queues.newest(log) >= group.windowMs;
  }

  function evictOne(nowMs: number): void {
    for (let rank = 0; rank < RANK_COUNT; rank += 1) {
      for (const group of groups) {
        const log = group.ranks.first(rank);
        if (log === undefined) continue;
        if (!isExpired(group, log, nowMs)) evicted += 1;
        forget(group, log);
        return;
      }
    }
  }

  /** Forgets expired clients of one rank of one group, the next one with every visit. */
  function sweepNextRank(nowMs: number): void {
    const group = groups[visits % groups.length] as LimitGroup;
    const rank = Math.floor(visits / groups.length) % RANK_COUNT;
    visits += 1;
    for (let swept = 0; swept < MAX_SWEPT_PER_VISIT * groups.length; swept += 1) {
      const log = group.ranks.first(rank);
      if (log === undefined || !isExpired(group, log, nowMs)) return;
      forget(group, log);
    }
  }

  return {
    hit(client, limit) {
      const nowMs = clock.monotonic();
      const group = groupOf(limit);
      sweepNextRank(nowMs);
      const log = logOf(group, client, nowMs);
      dropExpired(group, log, nowMs);
      const isAllowed = log.length < group.requests;
      if (isAllowed) push(group, log, nowMs);
      return {
        isAllowed,
        remaining: group.requests - log.length,
        resetMs: group.windowMs - (nowMs - queues.oldest(log)),
      };
    },
    budget(client, limit) {
      const nowMs = clock.monotonic();
      const group = groupOf(limit);
      const log = group.logs.get(client);
      if (log !== undefined) dropExpired(group, log, nowMs);
      if (log === undefined || log.length === 0) return { remaining: group.requests, resetMs: 0 };
      return {
        remaining: group.requests - log.length,
        resetMs: group.windowMs - (nowMs - queues.oldest(log)),
      };
    },
    add(client, limit, atMs) {
      const nowMs = clock.monotonic();
      const group = groupOf(limit);
      sweepNextRank(nowMs);
      const log = logOf(group, client, nowMs);
      push(group, log, log.length === 0 ? atMs : Math.max(atMs, queues.newest(log)));
    },
    stats: () => ({ clients, evicted }),
    async close() {
      groups.length = 0;
      clients = 0;
    },
  };
}

function createGroup(limit: RateLimit): LimitGroup {
  return {
    requests: limit.requests,
    windowMs: limit.windowMs,
    logs: createShardedMap<ClientLog>(),
    ranks: createRankedLists<ClientLog>(),
  };
}

function createLog(key: string): ClientLog {
  return {
    key,
    length: 0,
    firstCell: NO_CELL,
    lastCell: NO_CELL,
    rank: UNRANKED,
    previous: undefined,
    next: undefined,
  };
}
