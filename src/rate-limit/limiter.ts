/** At most `requests` in any span of `windowMs`. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** The remaining budget of a client. */
export interface RateLimitBudget {
  /** Requests left, after the decision. */
  readonly remaining: number;
  /** Milliseconds until `remaining` grows by one; 0 if the whole budget is left. */
  readonly resetMs: number;
}

export interface RateLimitDecision extends RateLimitBudget {
  readonly isAllowed: boolean;
}

/** Counts requests per client, exactly. Every limiter passes `test/contracts/limiter.ts`. */
export interface RateLimiter {
  /** Decides one request of a client. Rejected requests are not counted. May return the decision or a promise. */
  hit(client: string, limit: RateLimit): RateLimitDecision | Promise<RateLimitDecision>;
}

/** The limiter of all instances. */
export interface SharedRateLimiter {
  /**
   * Like `RateLimiter.hit`. With `mayAdmit` false the request is rejected and not counted, even if budget is left.
   *
   * @throws RedisUnavailable
   */
  hit(client: string, limit: RateLimit, mayAdmit?: boolean): Promise<RateLimitDecision>;
}

export type ClientLimit = RateLimit | 'unlimited';
