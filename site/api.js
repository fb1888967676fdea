/**
 * @typedef {import('./budget.js').Budget} Budget
 * @typedef {object} Answer
 * @property {Headers} headers
 * @property {Blob} body
 * @property {number} durationMs from the request to the last byte
 * @property {boolean} isFromBrowser true: the browser's own cache answered, nothing was sent
 */

/** An answer that is an error (RFC 9457), or no answer at all: then the status is 0. */
export class Problem extends Error {
  /** @param {{ status: number, code: string, detail: string, requestId?: string, retryAfterMs?: number }} problem */
  constructor({ status, code, detail, requestId = '', retryAfterMs = 0 }) {
    super(detail);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Requests to one instance, counted against its budget.
 *
 * @param {{ budget: Budget, onBudgetChange: () => void }} deps
 */
export function createApi({ budget, onBudgetChange }) {
  /**
   * @param {string} url
   * @param {{ accept?: string, signal?: AbortSignal }} [options]
   * @returns {Promise<Answer>} rejects with `Problem`, or the signal's reason
   */
  async function get(url, { accept = '*/*', signal } = {}) {
    const begunAtMs = budget.begin();
    const startedAt = performance.now();
    /** @type {Headers | undefined} */
    let headers;
    try {
      const response = await fetch(url, { headers: { accept }, ...(signal && { signal }) }).catch(explainFailure);
      const body = await response.blob();
      const durationMs = performance.now() - startedAt;
      const isFromBrowser = wasCached(url, startedAt);
      // What a cache kept says how much was left long ago.
      if (!isFromBrowser) headers = response.headers;
      if (!response.ok) throw await problemOf(response, body);
      return { headers: response.headers, body, durationMs, isFromBrowser };
    } finally {
      budget.end(begunAtMs, headers);
      onBudgetChange();
    }
  }

  return {
    get,

    /**
     * @param {string} url
     * @param {{ signal?: AbortSignal }} [options]
     */
    async getJson(url, options) {
      const { body } = await get(url, options);
      return JSON.parse(await body.text());
    },
  };
}

/**
 * @param {unknown} error
 * @returns {never}
 */
function explainFailure(error) {
  if (!(error instanceof TypeError)) throw error;
  throw new Problem({
    status: 0,
    code: 'unreachable',
    detail: 'The instance cannot be reached from here. Check its address, and that it is running.',
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
    return new Problem({ status: response.status, code, detail, requestId, retryAfterMs });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const detail = `The instance answered ${response.status} without an error document. Is it Pennant?`;
    return new Problem({ status: response.status, code: 'unreadable', detail, retryAfterMs });
  }
}
