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
  stats(): { readonly entries: number; readonly maxEntries: number; readonly evicted: number };
}

export function createMemoryRateLimiter(options: MemoryRateLimiterOptions): MemoryRateLimiter {
  const { clock, maxClients = DEFAULT_MAX_CLIENTS } = options;
  let evicted = 0;
  const logs = new LRUCache<string, RequestLog>({
    max: maxClients,
    dispose(log, _key, reason) {
      if (reason === 'evict' && !log.isExpired(clock.monotonic())) evicted += 1;
    },
  });

  function removeExpired(nowMs: number): void {
    for (let removed = 0; removed < MAX_REMOVED_FOR_ONE; removed += 1) {
      const [oldest] = logs.rkeys().take(1);
      if (oldest === undefined || !logs.peek(oldest)?.isExpired(nowMs)) return;
      logs.delete(oldest);
    }
  }

  function addLog(key: string, limit: RateLimit, nowMs: number): RequestLog {
    removeExpired(nowMs);
    const log = new RequestLog(limit);
    logs.set(compactCopy(key), log);
    return log;
  }

  return {
    hit(client, limit) {
      const nowMs = clock.monotonic();
      const key = keyOf(client, limit);
      return (logs.get(key) ?? addLog(key, limit, nowMs)).hit(nowMs);
    },
    budget: (client, limit) => (logs.get(keyOf(client, limit)) ?? new RequestLog(limit)).budget(clock.monotonic()),
    takeBack(client, limit) {
      const key = keyOf(client, limit);
      const log = logs.get(key);
      if (log !== undefined && log.takeBack() === 0) logs.delete(key);
    },
    stats: () => ({ entries: logs.size, maxEntries: maxClients, evicted }),
  };
}

function keyOf(client: string, { requests, windowMs }: RateLimit): string {
  return `${requests}/${windowMs} ${client}`;
}

/** The times of one client's admitted requests, in a ring that grows up to the limit. */
class RequestLog {
  readonly #limit: RateLimit;
  #times: number[] = [];
  #first = 0;
  #length = 0;

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  hit(nowMs: number): RateLimitDecision {
    this.#dropExpired(nowMs);
    const isAllowed = this.#length < this.#limit.requests;
    if (isAllowed) this.#push(nowMs);
    return { ...this.#budget(nowMs), isAllowed };
  }

  budget(nowMs: number): RateLimitBudget {
    this.#dropExpired(nowMs);
    return this.#budget(nowMs);
  }

  /** Drops the newest request. @returns how many are left */
  takeBack(): number {
    this.#length = Math.max(0, this.#length - 1);
    return this.#length;
  }

  isExpired(nowMs: number): boolean {
    this.#dropExpired(nowMs);
    return this.#length === 0;
  }

  #at(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] as number;
  }

  #dropExpired(nowMs: number): void {
    while (this.#length > 0 && nowMs - this.#at(0) >= this.#limit.windowMs) {
      this.#first = (this.#first + 1) % this.#times.length;
      this.#length -= 1;
    }
  }

  #push(atMs: number): void {
    if (this.#length === this.#times.length) {
      const times = Array.from({ length: this.#length }, (_, index) => this.#at(index));
      // As many again without a time yet, so that most requests need no copy.
      const more = Math.min(this.#limit.requests, Math.max(1, 2 * this.#length)) - this.#length;
      this.#times = [...times, ...new Array<number>(more).fill(atMs)];
      this.#first = 0;
    }
    this.#times[(this.#first + this.#length) % this.#times.length] = atMs;
    this.#length += 1;
  }

  #budget(nowMs: number): RateLimitBudget {
    const remaining = this.#limit.requests - this.#length;
    return { remaining, resetMs: this.#length === 0 ? 0 : this.#limit.windowMs - (nowMs - this.#at(0)) };
  }
}
