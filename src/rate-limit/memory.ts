import { LRUCache } from 'lru-cache';
import type { Clock } from '../lib/clock.ts';
import { compactCopy } from '../lib/memory-cache.ts';
import type { RateLimit, RateLimitBudget, RateLimitDecision, RateLimiter } from './limiter.ts';

interface MemoryRateLimiterOptions {
  readonly clock: Clock;
  /** The most clients to remember. The least recently seen is forgotten first. Default: 200,000. */
  readonly maxClients?: number;
}

const DEFAULT_MAX_CLIENTS = 200_000;
/** A new client takes the place of expired ones. With two, they are removed faster than clients are added. */
const MAX_REMOVED_FOR_ONE = 2;

/**
 * Decides in this process from the times of each client's admitted requests: no span of `windowMs` contains more than
 * `requests` of them. A client under two limits (an override inside its IPv6 network) counts as two.
 */
export interface MemoryRateLimiter extends RateLimiter {
  hit(client: string, limit: RateLimit): RateLimitDecision;
  /** Returns the client's budget without counting a request. */
  budget(client: string, limit: RateLimit): RateLimitBudget;
  /** Forgets the client's newest request, which another limiter has rejected. */
  takeBack(client: string, limit: RateLimit): void;
  /** The remembered clients, and those forgotten before the end of their window since the start. */
  stats(): { readonly entries: number; readonly evicted: number };
}

/** The admitted requests of a client under a limit. */
interface RequestLog {
  readonly windowMs: number;
  /** Times on the monotonic clock, the oldest first. */
  times: number[];
}

export function createMemoryRateLimiter(options: MemoryRateLimiterOptions): MemoryRateLimiter {
  const { clock, maxClients = DEFAULT_MAX_CLIENTS } = options;
  let evicted = 0;
  const logs = new LRUCache<string, RequestLog>({
    max: maxClients,
    dispose(log, _key, reason) {
      if (reason === 'evict' && !isExpired(log, clock.monotonic())) evicted += 1;
    },
  });

  function removeExpired(nowMs: number): void {
    for (let removed = 0; removed < MAX_REMOVED_FOR_ONE; removed += 1) {
      const [oldest] = logs.rkeys().take(1);
      const log = oldest === undefined ? undefined : logs.peek(oldest);
      if (oldest === undefined || log === undefined || !isExpired(log, nowMs)) return;
      logs.delete(oldest);
    }
  }

  function budget(client: string, limit: RateLimit): RateLimitBudget {
    const nowMs = clock.monotonic();
    const log = logs.get(keyOf(client, limit));
    return log === undefined || isExpired(log, nowMs)
      ? { remaining: limit.requests, resetMs: 0 }
      : budgetOf(log, limit, nowMs);
  }

  return {
    hit(client, limit) {
      const nowMs = clock.monotonic();
      const key = keyOf(client, limit);
      const log = logs.get(key);
      if (log === undefined || isExpired(log, nowMs)) {
        removeExpired(nowMs);
        // An array of one time, because most clients send one request. A time that is added makes room for sixteen.
        const first = { windowMs: limit.windowMs, times: [nowMs] };
        logs.set(compactCopy(key), first);
        return { ...budgetOf(first, limit, nowMs), isAllowed: true };
      }
      const isAllowed = log.times.length < limit.requests;
      if (isAllowed) log.times.push(nowMs);
      return { ...budgetOf(log, limit, nowMs), isAllowed };
    },
    budget,
    takeBack(client, limit) {
      const key = keyOf(client, limit);
      const log = logs.get(key);
      log?.times.pop();
      if (log?.times.length === 0) logs.delete(key);
    },
    stats: () => ({ entries: logs.size, evicted }),
  };
}

function keyOf(client: string, { requests, windowMs }: RateLimit): string {
  return `${requests}/${windowMs} ${client}`;
}

/** Drops the requests that have left the window. @returns whether there are no others */
function isExpired({ times, windowMs }: RequestLog, nowMs: number): boolean {
  let expired = 0;
  while (expired < times.length && nowMs - (times[expired] as number) >= windowMs) expired += 1;
  if (expired > 0) times.splice(0, expired);
  return times.length === 0;
}

/** @param log of requests inside the window, at least one */
function budgetOf({ times: [oldestMs = 0], times, windowMs }: RequestLog, { requests }: RateLimit, nowMs: number) {
  return { remaining: requests - times.length, resetMs: windowMs - (nowMs - oldestMs) };
}
