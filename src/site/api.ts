import type { Budget } from './budget.ts';
import { isLoopback, type Route } from './instance.ts';
import { createRecentResponses, type ReceivedResponse } from './recent-responses.ts';

export interface GetOptions {
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** Awaited before a request is sent; not called if none is needed. */
  readonly beforeSend?: () => Promise<void>;
}

/** Longer than an instance takes for any response. */
const MAX_RESPONSE_MS = 20_000;

/** A setting. A sentence that names one is for operators, and visitors cannot follow it. */
const SETTING = /\b[A-Z_]{2,}=/;

interface ProblemFields {
  readonly status: number;
  readonly code: string;
  /** A few words. */
  readonly title?: string;
  readonly detail: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
}

/** An error response (RFC 9457), or no response at all: then the status is 0. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string;
  readonly retryAfterMs: number;

  constructor({ status, code, title = 'The request failed', detail, requestId = '', retryAfterMs = 0 }: ProblemFields) {
    super(detail);
    this.status = status;
    this.code = code;
    this.title = title;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request may succeed later. */
  get canRetry() {
    return [0, 408, 429].includes(this.status) || this.status >= 500;
  }
}

interface Api {
  /** @returns rejects with `Problem`, or the signal's reason */
  readonly get: (url: string, options?: GetOptions) => Promise<ReceivedResponse>;
  /** @returns rejects with `Problem`, or the signal's reason */
  // biome-ignore lint/suspicious/noExplicitAny: as JSON.parse; the callers check what they read.
  readonly getJson: (url: string, options?: GetOptions) => Promise<any>;
}

/** What a part of the page needs to send requests. */
export interface RequestDeps {
  readonly api: Api;
  readonly budget: Budget;
  /** The origin of the instance; empty if there is none. */
  readonly instance: () => string;
}

interface ApiDeps {
  readonly budget: Budget;
  readonly onBudgetChange: () => void;
  readonly routeOf: (url: string) => Route;
}

/** Requests to one instance, counted against its budget. */
export function createApi({ budget, onBudgetChange, routeOf }: ApiDeps): Api {
  const recent = createRecentResponses(() => performance.now());

  async function get(url: string, { accept = '*/*', signal, beforeSend }: GetOptions = {}): Promise<ReceivedResponse> {
    const key = `${accept} ${url}`;
    const known = recent.get(key);
    if (known !== undefined) return { ...known, isFromBrowser: true };
    await beforeSend?.();
    const response = await send(url, accept, signal);
    recent.keep(key, response);
    return response;
  }

  async function send(url: string, accept: string, signal?: AbortSignal): Promise<ReceivedResponse> {
    const begunAtMs = budget.begin();
    const startedAt = performance.now();
    const late = new AbortController();
    const route = routeOf(url);
    const { host, hostname } = new URL(url);
    const server = route.url === url ? host : 'This service';
    const timer = setTimeout(
      () => late.abort(unreachable(`${server} did not respond within ${MAX_RESPONSE_MS / 1000} s.`)),
      MAX_RESPONSE_MS,
    );
    const ended = AbortSignal.any(signal === undefined ? [late.signal] : [signal, late.signal]);
    const explain = (error: unknown): never => {
      ended.throwIfAborted();
      if (!(error instanceof TypeError)) throw error;
      throw navigator.onLine || isLoopback(hostname)
        ? unreachable(`${server} cannot be reached from this browser.`)
        : offline();
    };
    let headers: Headers | undefined;
    try {
      const response = await fetch(route.url, { headers: { accept, ...route.headers }, signal: ended }).catch(explain);
      const body = await response.blob().catch(explain);
      const durationMs = performance.now() - startedAt;
      const isFromBrowser = wasCached(route.url, startedAt);
      // The fields of a cached response tell the rate limit of an earlier time.
      if (!isFromBrowser) headers = response.headers;
      if (!response.ok) throw await problemOf(response, body);
      return { headers: response.headers, body, durationMs, isFromBrowser };
    } finally {
      clearTimeout(timer);
      budget.end(begunAtMs, headers ?? (ended.aborted ? 'cancelled' : undefined));
      onBudgetChange();
    }
  }

  return {
    get,

    async getJson(url, options) {
      const { body } = await get(url, options);
      try {
        return JSON.parse(await body.text());
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw notPennant();
      }
    },
  };
}

const NOT_PENNANT = 'Not a Pennant response';

/** For a response that no instance would send. */
export function notPennant() {
  const detail = 'This server is not a Pennant instance. Check the instance at the top.';
  return new Problem({ status: 200, code: 'unreadable', title: NOT_PENNANT, detail });
}

function unreachable(detail: string) {
  return new Problem({ status: 0, code: 'unreachable', title: 'No response', detail });
}

function offline() {
  const detail = 'This browser has no connection. The page tries again when it is back.';
  return new Problem({ status: 0, code: 'offline', title: 'Offline', detail });
}

function wasCached(url: string, sinceMs: number) {
  const entry = performance.getEntriesByName(url, 'resource').at(-1);
  if (!(entry instanceof PerformanceResourceTiming) || entry.startTime < sinceMs - 1) return false;
  return entry.transferSize === 0 && entry.decodedBodySize > 0;
}

async function problemOf(response: Response, body: Blob) {
  const retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1000;
  try {
    const { code, title, detail, requestId } = JSON.parse(await body.text());
    const sentences = String(detail).split('. ');
    const words = sentences.filter((sentence) => !SETTING.test(sentence)).join('. ');
    return new Problem({ status: response.status, code, title, detail: words, requestId, retryAfterMs });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `The server responded with status ${response.status} and no error document. Is it a Pennant instance?`;
    return new Problem({ status: response.status, code: 'unreadable', title: NOT_PENNANT, detail, retryAfterMs });
  }
}
