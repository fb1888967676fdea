import { createRecentResponses } from './recent-responses.js';

/**
 * @typedef {import('./budget.js').Budget} Budget
 * @typedef {object} Reply
 * @property {Headers} headers
 * @property {Blob} body
 * @property {number} durationMs from the request to the last byte
 * @property {boolean} isFromBrowser true: the browser had the response, nothing was sent
 *
 * @typedef {object} GetOptions
 * @property {string} [accept]
 * @property {AbortSignal} [signal]
 * @property {() => Promise<void>} [beforeSend] awaited before a request is sent; not called if none is needed
 */

/** Longer than an instance takes for any response. */
const MAX_RESPONSE_MS = 20_000;

/** A path that is of no use in the page, which has a button instead. */
const SEARCH_ADVICE = / Search for it: \/api\/search\S+$/;

export const NO_PENNANT = 'This server is not a Pennant instance. Check the instance at the top.';

/** An error response (RFC 9457), or no response at all: then the status is 0. */
export class Problem extends Error {
  /** @param {{ status: number, code: string, detail: string, requestId?: string, retryAfterMs?: number }} problem */
  constructor({ status, code, detail, requestId = '', retryAfterMs = 0 }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  /** Whether the same request may succeed later. */
  get canRetry() {
    return [0, 408, 429].includes(this.status) || this.status >= 500;
  }
}

/**
 * Requests to one instance, counted against its budget.
 *
 * @param {{ budget: Budget, onBudgetChange: () => void }} deps
 */
export function createApi({ budget, onBudgetChange }) {
  const recent = createRecentResponses(() => performance.now());

  /**
   * @param {string} url
   * @param {GetOptions} [options]
   * @returns {Promise<Reply>} rejects with `Problem`, or the signal's reason
   */
  async function get(url, { accept = '*/*', signal, beforeSend } = {}) {
    const key = `${accept} ${url}`;
    const known = recent.get(key);
    if (known !== undefined) return { ...known, isFromBrowser: true };
    await beforeSend?.();
    const response = await send(url, accept, signal);
    recent.keep(key, response);
    return response;
  }

  /**
   * @param {string} url
   * @param {string} accept
   * @param {AbortSignal} [signal]
   * @returns {Promise<Reply>}
   */
  async function send(url, accept, signal) {
    const begunAtMs = budget.begin();
    const startedAt = performance.now();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(noResponse()), MAX_RESPONSE_MS);
    const ended = AbortSignal.any(signal === undefined ? [late.signal] : [signal, late.signal]);
    const explain = (/** @type {unknown} */ error) => explainFailure(error, ended);
    /** @type {Headers | undefined} */
    let headers;
    try {
      const response = await fetch(url, { headers: { accept }, signal: ended }).catch(explain);
      const body = await response.blob().catch(explain);
      const durationMs = performance.now() - startedAt;
      const isFromBrowser = wasCached(url, startedAt);
      // A cached response has the rate limit of the time when it was sent.
      if (!isFromBrowser) headers = response.headers;
      if (!response.ok) throw await problemOf(response, body);
      return { headers: response.headers, body, durationMs, isFromBrowser };
    } finally {
      clearTimeout(timer);
      budget.end(begunAtMs, headers);
      onBudgetChange();
    }
  }

  return {
    get,

    /**
     * @param {string} url
     * @param {GetOptions} [options]
     */
    async getJson(url, options) {
      const { body } = await get(url, options);
      try {
        return JSON.parse(await body.text());
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw new Problem({ status: 200, code: 'unreadable', detail: NO_PENNANT });
      }
    },
  };
}

function noResponse() {
  const detail = `The instance did not respond within ${MAX_RESPONSE_MS / 1000} s.`;
  return new Problem({ status: 0, code: 'unreachable', detail });
}

/**
 * @param {unknown} error
 * @param {AbortSignal} signal of the request
 * @returns {never}
 */
function explainFailure(error, signal) {
  signal.throwIfAborted();
  if (!(error instanceof TypeError)) throw error;
  throw new Problem({
    status: 0,
    code: 'unreachable',
    detail: 'The instance cannot be reached from this browser. Check its address and that it is running.',
  });
}

/**
 * @param {string} url
 * @param {number} sinceMs
 */
function wasCached(url, sinceMs) {
  const entry = performance.getEntriesByName(url, 'resource').at(-1);
  if (!(entry instanceof PerformanceResourceTiming) || entry.startTime < sinceMs - 1) return false;
  return entry.transferSize === 0 && entry.decodedBodySize > 0;
}

/**
 * @param {Response} response
 * @param {Blob} body
 */
async function problemOf(response, body) {
  const retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1000;
  try {
    const { code, detail, requestId } = JSON.parse(await body.text());
    const words = String(detail).replace(SEARCH_ADVICE, '');
    return new Problem({ status: response.status, code, detail: words, requestId, retryAfterMs });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `The server responded with status ${response.status} and no error document. Is it a Pennant instance?`;
    return new Problem({ status: response.status, code: 'unreadable', detail, retryAfterMs });
  }
}
