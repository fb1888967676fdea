import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../domain/errors.ts';
import type { Clock } from '../clock.ts';
import { compactCopy } from '../memory-cache.ts';
import { abortError, currentClient } from '../work.ts';
import { ConnectionError, type HttpClient, type HttpRequest, type HttpResponse } from './client.ts';

export type CallBudget = ReturnType<typeof createCallBudget>;

export interface CallBudgetOptions {
  readonly clock: Clock;
  readonly callsPerSecond: number;
  readonly burst: number;
}

interface Client {
  readonly share: TokenBucket;
  /** In order of arrival. */
  readonly waiting: Set<Turn>;
  lastCallAtMs: number;
}

type Turn = PromiseWithResolvers<void>;

/** The share of rate and burst of one client while others are active. */
const SHARE = 0.25;
/** A client counts as active for this long after its last call. */
const ACTIVE_MS = 10_000;
const MAX_CLIENTS = 1_000;
const MAX_WAIT_MS = 2_000;

/**
 * Limits the calls to one upstream with a token bucket, shared fairly between clients. While several clients are
 * active, each may use a quarter of rate and burst. A single client may use the whole rate and three quarters of the
 * burst; the rest is reserved for others.
 */
export function createCallBudget({ clock, callsPerSecond, burst }: CallBudgetOptions) {
  const reserve = Math.floor(burst * SHARE);
  const all = createTokenBucket({ perSecond: callsPerSecond, capacity: burst, nowMs: clock.monotonic() });
  // The map's order is the order of turns: after its turn, a client is inserted again at the end.
  const clients = new Map<string, Client>();
  let cancelTimer: () => void = () => undefined;

  function clientOf(key: string, nowMs: number): Client {
    const known = clients.get(key);
    if (known !== undefined) return known;
    forgetClients(nowMs);
    const capacity = Math.max(1, burst * SHARE);
    const share = createTokenBucket({ perSecond: callsPerSecond * SHARE, capacity, nowMs });
    const client: Client = { share, waiting: new Set(), lastCallAtMs: nowMs };
    clients.set(compactCopy(key), client);
    return client;
  }

  /** Makes room for one more: removes inactive clients, or else the one whose last turn was longest ago. */
  function forgetClients(nowMs: number): void {
    const idle = [...clients].filter(([, { waiting }]) => waiting.size === 0);
    for (const [key, { lastCallAtMs, share }] of idle) {
      if (nowMs - lastCallAtMs > ACTIVE_MS && share.isFull(nowMs)) clients.delete(key);
    }
    if (clients.size < MAX_CLIENTS) return;
    const [oldest] = idle;
    if (oldest === undefined) throw refusal(MAX_WAIT_MS);
    clients.delete(oldest[0]);
  }

  function isAlone(client: Client, nowMs: number): boolean {
    for (const other of clients.values()) {
      if (other !== client && nowMs - other.lastCallAtMs <= ACTIVE_MS) return false;
    }
    return true;
  }

  /** The time until the client may make this many more calls, independent of other clients. */
  function msUntilTurn(client: Client, calls: number, nowMs: number): number {
    const withinShareMs = Math.max(client.share.msUntil(calls, nowMs), all.msUntil(calls, nowMs));
    return isAlone(client, nowMs) ? Math.min(withinShareMs, all.msUntil(calls + reserve, nowMs)) : withinShareMs;
  }

  /** Like `msUntilTurn`, for the last waiting call of the client, including the turns that other clients have before it. */
  function msUntilLast(client: Client, calls: number, nowMs: number): number {
    let before = 0;
    for (const other of clients.values()) if (other !== client) before += Math.min(calls, other.waiting.size);
    return Math.max(msUntilTurn(client, calls, nowMs), all.msUntil(before + calls, nowMs));
  }

  function giveTurns(): void {
    const nowMs = clock.monotonic();
    for (let found = findTurn(nowMs); found !== undefined; found = findTurn(nowMs)) {
      const { key, client, turn } = found;
      all.take(nowMs);
      client.share.take(nowMs);
      clients.delete(key);
      clients.set(key, client);
      client.waiting.delete(turn);
      turn.resolve();
    }
    const waitingClients = [...clients.values()].filter(({ waiting }) => waiting.size > 0);
    const nextMs = Math.min(...waitingClients.map((client) => msUntilTurn(client, 1, nowMs)));
    cancelTimer();
    if (nextMs <= MAX_WAIT_MS) cancelTimer = clock.after(nextMs, giveTurns);
  }

  function findTurn(nowMs: number) {
    for (const [key, client] of clients) {
      const [turn] = client.waiting;
      if (turn !== undefined && msUntilTurn(client, 1, nowMs) === 0) return { key, client, turn };
    }
    return undefined;
  }

  return {
    /**
     * Waits for this call's turn. Clients that wait take turns, each with its own calls in order. A caller that is
     * aborted while it waits gives its turn back.
     *
     * @param key of the client whose request needs the call. The service's own work is one client, the empty string.
     * @throws LocalLimitError if the turn would come later than in 2 s, at once if that is known. Its `retryAfterMs` is
     *   the time until a call of this client would have its turn.
     */
    async take(key: string, signal: AbortSignal): Promise<void> {
      if (signal.aborted) throw abortError(signal);
      const nowMs = clock.monotonic();
      const client = clientOf(key, nowMs);
      client.lastCallAtMs = nowMs;
      const turn: Turn = Promise.withResolvers();
      client.waiting.add(turn);
      giveTurns();
      if (!client.waiting.has(turn)) return;
      const leave = (reason: AppError) => {
        client.waiting.delete(turn);
        turn.reject(reason);
      };
      const waitMs = msUntilLast(client, client.waiting.size, nowMs);
      const onAbort = () => leave(abortError(signal));
      const onLate = () => {
        giveTurns();
        leave(refusal(msUntilLast(client, 1, clock.monotonic())));
      };
      if (waitMs > MAX_WAIT_MS) leave(refusal(waitMs));
      signal.addEventListener('abort', onAbort, { once: true });
      const cancelLimit = clock.after(MAX_WAIT_MS, onLate);
      try {
        await turn.promise;
      } finally {
        cancelLimit();
        signal.removeEventListener('abort', onAbort);
      }
    },
    /** `clients`: those whose shares are remembered. */
    stats: () => ({ clients: { entries: clients.size, maxEntries: MAX_CLIENTS } }),
  };
}

/** Long enough for an upstream to restart an instance, short enough not to be noticed. */
const MAX_RETRY_DELAY_MS = 200;

/**
 * An HTTP client with a call budget, in which each attempt counts for the requesting client. Retries once after a
 * connection error or a 5xx, but not after a 4xx (429 included) or a time-out. POSTs are retried too: all our calls
 * only read.
 */
export function guardHttpClient(http: HttpClient, { budget }: { readonly budget: CallBudget }): HttpClient {
  async function send(request: HttpRequest): Promise<HttpResponse> {
    await budget.take(currentClient() ?? '', request.signal);
    return http.request(request);
  }

  return {
    async request(request) {
      try {
        const response = await send(request);
        if (response.status < 500) return response;
      } catch (error) {
        const isWorthRetrying = error instanceof ConnectionError && error.code === 'upstream_unavailable';
        if (!isWorthRetrying || request.signal.aborted) throw error;
      }
      await pause(request.signal);
      return send({ ...request, resends: 1 });
    },
    close: () => http.close(),
  };
}

/** Half of the delay is random, so that calls that failed together are not retried together. */
async function pause(signal: AbortSignal): Promise<void> {
  const delayMs = (MAX_RETRY_DELAY_MS / 2) * (1 + Math.random());
  await delay(delayMs, undefined, { signal }).catch(() => Promise.reject(abortError(signal)));
}

function refusal(waitMs: number): LocalLimitError {
  return new LocalLimitError('The call budget for the upstream is spent.', waitMs);
}

/** A call that a local limit prevented (source paused, budget used up). It never counts against the upstream. */
export class LocalLimitError extends AppError {
  constructor(message: string, retryAfterMs: number) {
    super('upstream_unavailable', message, { retryAfterMs });
    this.name = 'LocalLimitError';
  }
}

type TokenBucket = ReturnType<typeof createTokenBucket>;

/** A token counts as complete if less than this is missing, because fractions are added up. */
const ROUNDING = 1e-6;

/** A steady rate with a burst after a quiet time. The bucket starts full. Times are monotonic milliseconds and never go back. */
export function createTokenBucket(options: Readonly<Record<'perSecond' | 'capacity' | 'nowMs', number>>) {
  const { perSecond, capacity, nowMs: startMs } = options;
  let tokens = capacity;
  let filledAtMs = startMs;

  function fill(nowMs: number): number {
    tokens = Math.min(capacity, tokens + ((nowMs - filledAtMs) / 1000) * perSecond);
    filledAtMs = nowMs;
    return tokens;
  }

  return {
    /** Takes one token; an empty bucket stays empty. */
    take(nowMs: number): void {
      tokens = Math.max(0, fill(nowMs) - 1);
    },
    /** The time until this many tokens are available, 0 if they are available now. */
    msUntil(wanted: number, nowMs: number): number {
      const missing = wanted - fill(nowMs);
      return missing < ROUNDING ? 0 : (missing / perSecond) * 1000;
    },
    isFull: (nowMs: number) => capacity - fill(nowMs) < ROUNDING,
  };
}
