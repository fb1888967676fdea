import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import type { HolderStats } from '../holders.ts';
import { compactCopy } from '../memory-cache.ts';
import { abortError } from '../work.ts';
import { createTokenBucket, type TokenBucket } from './token-bucket.ts';

/**
 * Limits the calls to one upstream with a token bucket, shared fairly between clients. While several clients are
 * active, each may use a quarter of rate and burst. A single client may use the whole rate and three quarters of the
 * burst; the rest is reserved for others.
 */
export interface CallBudget {
  /**
   * Waits for this call's turn. Clients that wait take turns, each with its own calls in order. A caller that is
   * aborted while it waits gives its turn back.
   *
   * @param client the client whose request needs the call. The service's own work is one client, the empty string.
   * @throws LocalLimitError if the turn would come later than `maxWaitMs`, at once if that is known. Its
   *   `retryAfterMs` is the time until a call of this client would have its turn.
   */
  take(client: string, signal: AbortSignal): Promise<void>;
  stats(): CallBudgetStats;
}

export interface CallBudgetStats {
  readonly available: number;
  readonly waiting: number;
  readonly refused: number;
  /** Clients whose shares are remembered. */
  readonly clients: HolderStats;
}

export interface CallBudgetOptions {
  readonly clock: Clock;
  readonly callsPerSecond: number;
  readonly burst: number;
  readonly maxWaitMs?: number;
}

interface Client {
  readonly share: TokenBucket;
  readonly waiting: Waiter[];
  askedAtMs: number;
}

interface Waiter {
  readonly deadlineMs: number;
  readonly turn: PromiseWithResolvers<void>;
}

/** The share of rate and burst of one client while others are active. */
const SHARE = 0.25;
/** A client counts as active for this long after its last call. */
const ASKING_MS = 10_000;
const MAX_CLIENTS = 1_000;

export function createCallBudget(options: CallBudgetOptions): CallBudget {
  const { clock, callsPerSecond, burst, maxWaitMs = 2_000 } = options;
  const reserve = Math.floor(burst * SHARE);
  const all = createTokenBucket({ perSecond: callsPerSecond, capacity: burst, nowMs: clock.monotonic() });
  // The order is the round: a client that had its turn is inserted again at the end.
  const clients = new Map<string, Client>();
  let cancelTimer: () => void = () => undefined;
  let refused = 0;

  function clientOf(key: string, nowMs: number): Client {
    const known = clients.get(key);
    if (known !== undefined) return known;
    forgetClients(nowMs);
    const share = createTokenBucket({
      perSecond: callsPerSecond * SHARE,
      capacity: Math.max(1, burst * SHARE),
      nowMs,
    });
    const client: Client = { share, waiting: [], askedAtMs: nowMs };
    clients.set(compactCopy(key), client);
    return client;
  }

  /** Makes room for one more: removes inactive clients, or else the one whose last turn was longest ago. */
  function forgetClients(nowMs: number): void {
    const idle = [...clients].filter(([, { waiting }]) => waiting.length === 0);
    for (const [key, { askedAtMs, share }] of idle) {
      if (nowMs - askedAtMs > ASKING_MS && share.isFull(nowMs)) clients.delete(key);
    }
    if (clients.size < MAX_CLIENTS) return;
    const [oldest] = idle;
    if (oldest === undefined) throw refusal(maxWaitMs);
    clients.delete(oldest[0]);
  }

  function isAlone(client: Client, nowMs: number): boolean {
    for (const other of clients.values()) {
      if (other !== client && nowMs - other.askedAtMs <= ASKING_MS) return false;
    }
    return true;
  }

  /** The time until the client may make this many more calls, independent of other clients. */
  function msUntilTurn(client: Client, calls: number, nowMs: number): number {
    const withinShareMs = Math.max(client.share.msUntil(calls, nowMs), all.msUntil(calls, nowMs));
    return isAlone(client, nowMs) ? Math.min(withinShareMs, all.msUntil(calls + reserve, nowMs)) : withinShareMs;
  }

  /** The same for the last waiting call of the client, after the earlier turns of other clients. */
  function msUntilLast(client: Client, calls: number, nowMs: number): number {
    let before = 0;
    for (const other of clients.values()) if (other !== client) before += Math.min(calls, other.waiting.length);
    return Math.max(msUntilTurn(client, calls, nowMs), all.msUntil(before + calls, nowMs));
  }

  function giveTurns(): void {
    const nowMs = clock.monotonic();
    for (let found = findTurn(nowMs); found !== undefined; found = findTurn(nowMs)) {
      const [key, client] = found;
      all.take(nowMs);
      client.share.take(nowMs);
      clients.delete(key);
      clients.set(key, client);
      client.waiting.shift()?.turn.resolve();
    }
    for (const client of clients.values()) {
      while ((client.waiting[0]?.deadlineMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
        client.waiting.shift()?.turn.reject(refusal(msUntilLast(client, 1, nowMs)));
      }
    }
    setTimer(nowMs);
  }

  function findTurn(nowMs: number): [string, Client] | undefined {
    for (const entry of clients) {
      if (entry[1].waiting.length > 0 && msUntilTurn(entry[1], 1, nowMs) === 0) return entry;
    }
    return undefined;
  }

  function setTimer(nowMs: number): void {
    cancelTimer();
    let ms = Number.POSITIVE_INFINITY;
    for (const client of clients.values()) {
      const [first] = client.waiting;
      if (first !== undefined) ms = Math.min(ms, msUntilTurn(client, 1, nowMs), first.deadlineMs - nowMs);
    }
    if (ms === Number.POSITIVE_INFINITY) return;
    cancelTimer = clock.after(ms, giveTurns);
  }

  function refusal(waitMs: number): LocalLimitError {
    refused += 1;
    return new LocalLimitError('The call budget for the upstream is spent.', waitMs);
  }

  return {
    async take(key, signal) {
      if (signal.aborted) throw abortError(signal);
      const nowMs = clock.monotonic();
      const client = clientOf(key, nowMs);
      client.askedAtMs = nowMs;
      const waiter: Waiter = { deadlineMs: nowMs + maxWaitMs, turn: Promise.withResolvers() };
      client.waiting.push(waiter);
      giveTurns();
      const isWaiting = client.waiting.includes(waiter);
      const waitMs = isWaiting ? msUntilLast(client, client.waiting.length, nowMs) : 0;
      const leave = () => {
        remove(client.waiting, waiter);
        waiter.turn.reject(abortError(signal));
      };
      if (waitMs > maxWaitMs) {
        remove(client.waiting, waiter);
        throw refusal(waitMs);
      }
      signal.addEventListener('abort', leave, { once: true });
      try {
        await waiter.turn.promise;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },

    stats() {
      let waiting = 0;
      for (const client of clients.values()) waiting += client.waiting.length;
      const held = { entries: clients.size, maxEntries: MAX_CLIENTS };
      return { available: Math.floor(all.available(clock.monotonic())), waiting, refused, clients: held };
    },
  };
}

function remove(waiting: Waiter[], waiter: Waiter): void {
  const index = waiting.indexOf(waiter);
  if (index >= 0) waiting.splice(index, 1);
}

/** A call that a local limit prevented (breaker open, budget or quota used up). It never counts against the upstream. */
export class LocalLimitError extends AppError {
  constructor(message: string, retryAfterMs: number) {
    super('upstream_unavailable', message, { retryAfterMs });
    this.name = 'LocalLimitError';
  }
}

/** A daily quota is used up, or the part of it that may be used now. */
export class QuotaSpentError extends LocalLimitError {}
