/**
 * @typedef {object} BudgetState
 * @property {number} limit requests in the window
 * @property {number} windowSeconds
 * @property {number} remaining requests that may be sent now
 * @property {number} nextInMs until one more is free; 0 when all are
 */

/**
 * @typedef {object} Budget
 * @property {() => BudgetState | undefined} state `undefined` until an answer has told, and for unlimited clients
 * @property {(reserve: number) => number} waitMs how long to wait before a request leaves at least `reserve` others
 * @property {() => number} begin a request goes out; returns when, for `end`
 * @property {(begunAtMs: number, headers: Headers | undefined) => void} end its answer came, or none (`undefined`)
 */

/**
 * Keeps count of an instance's rate limit by what its answers say (`RateLimit`, `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers), and of requests that are still under way.
 *
 * @param {() => number} now milliseconds
 * @returns {Budget}
 */
export function createBudget(now) {
  /** @type {{ limit: number, windowMs: number, remaining: number, resetMs: number, atMs: number } | undefined} */
  let told;
  let underWay = 0;

  function remaining() {
    if (told === undefined) return Number.POSITIVE_INFINITY;
    const elapsedMs = now() - told.atMs;
    if (elapsedMs >= told.windowMs) return told.limit - underWay;
    const freed = elapsedMs >= told.resetMs ? 1 : 0;
    return Math.min(told.limit, told.remaining + freed) - underWay;
  }

  /**
   * @param {number} begunAtMs
   * @param {Headers} headers
   */
  function note(begunAtMs, headers) {
    const [, requests, seconds] = /;q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
    const [, left, reset] = /;r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
    if (requests === undefined || left === undefined) return;
    // Answers to requests that were under way together come in any order: the lower count is the later one.
    const isTogether = told !== undefined && begunAtMs <= told.atMs;
    told = {
      limit: Number(requests),
      windowMs: Number(seconds) * 1000,
      remaining: isTogether ? Math.min(told?.remaining ?? 0, Number(left)) : Number(left),
      resetMs: Number(reset) * 1000,
      atMs: now(),
    };
  }

  return {
    state() {
      if (told === undefined) return undefined;
      const left = Math.max(0, remaining());
      const nextInMs = left >= told.limit ? 0 : Math.max(0, told.atMs + told.resetMs - now());
      return { limit: told.limit, windowSeconds: told.windowMs / 1000, remaining: left, nextInMs };
    },

    waitMs(reserve) {
      if (told === undefined) return 0;
      const missing = Math.min(reserve, told.limit - 1) + 1 - remaining();
      if (missing <= 0) return 0;
      // Only the next free request is announced; all of them are free one window after the last one was sent.
      const until = missing === 1 && underWay === 0 ? told.resetMs : told.windowMs;
      return Math.max(1000, told.atMs + until - now());
    },

    begin() {
      underWay += 1;
      return now();
    },

    end(begunAtMs, headers) {
      underWay -= 1;
      if (headers !== undefined) note(begunAtMs, headers);
    },
  };
}
