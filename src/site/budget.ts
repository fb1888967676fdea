interface BudgetState {
  /** Requests in a window. */
  readonly limit: number;
  /** Requests that may be sent now. */
  readonly remaining: number;
  /** Milliseconds until one more request is free; 0 when all are free. */
  readonly nextInMs: number;
}

export interface Budget {
  /** `undefined` before the first response, and for unlimited clients. */
  readonly state: () => BudgetState | undefined;
  /** How long to wait before a request leaves at least `reserve` others. */
  readonly waitMs: (reserve: number) => number;
  /** Call before a request is sent. Returns the time, for `end`. */
  readonly begin: () => number;
  /**
   * Call with the header fields of the response. Call with `cancelled` if the page did not wait for the response, because the
   * instance has counted the request; with `undefined` if the instance has not counted it.
   */
  readonly end: (begunAtMs: number, headers: Headers | 'cancelled' | undefined) => void;
  /** Call when the page changes to another instance. */
  readonly forget: () => void;
}

/**
 * Counts the requests that an instance's rate limit leaves, from the fields of its responses (`RateLimit`,
 * `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers) and from the requests in flight.
 *
 * @param now milliseconds
 */
export function createBudget(now: () => number): Budget {
  let reported: { limit: number; windowMs: number; remaining: number; resetMs: number; atMs: number } | undefined;
  let inFlight = 0;

  function remaining() {
    if (reported === undefined) return Number.POSITIVE_INFINITY;
    const elapsedMs = now() - reported.atMs;
    if (elapsedMs >= reported.windowMs) return reported.limit - inFlight;
    const freed = elapsedMs >= reported.resetMs ? 1 : 0;
    return Math.min(reported.limit, reported.remaining + freed) - inFlight;
  }

  function note(begunAtMs: number, headers: Headers) {
    const [, requests, seconds] = /;q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
    const [, left, reset] = /;r=(\d+);t=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
    if (requests === undefined || left === undefined) return;
    // Responses to simultaneous requests arrive in any order. The lowest count is the current one.
    const isTogether = reported !== undefined && begunAtMs <= reported.atMs;
    reported = {
      limit: Number(requests),
      windowMs: Number(seconds) * 1000,
      remaining: isTogether ? Math.min(reported?.remaining ?? 0, Number(left)) : Number(left),
      resetMs: Number(reset) * 1000,
      atMs: now(),
    };
  }

  return {
    state() {
      if (reported === undefined) return undefined;
      const left = Math.max(0, remaining());
      const nextInMs = left >= reported.limit ? 0 : Math.max(0, reported.atMs + reported.resetMs - now());
      return { limit: reported.limit, remaining: left, nextInMs };
    },

    waitMs(reserve) {
      if (reported === undefined) return 0;
      const missing = Math.min(reserve, reported.limit - 1) + 1 - remaining();
      if (missing <= 0) return 0;
      // A response tells only when the next request is free. All are free one window after the last request.
      const until = missing === 1 && inFlight === 0 ? reported.resetMs : reported.windowMs;
      return Math.max(1000, reported.atMs + until - now());
    },

    forget() {
      reported = undefined;
    },

    begin() {
      inFlight += 1;
      return now();
    },

    end(begunAtMs, headers) {
      inFlight -= 1;
      if (headers === 'cancelled') {
        if (reported !== undefined) reported.remaining = Math.max(0, reported.remaining - 1);
      } else if (headers !== undefined) note(begunAtMs, headers);
    },
  };
}
