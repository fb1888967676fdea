/** At most `requests` admitted in any span of `windowMs`. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What a client may still send. */
export interface RateLimitBudget {
  /** Requests left; right after a decision, those that are left after it. */
  readonly remaining: number;
  /** Milliseconds until one more request is free than now; 0 when the whole budget is. */
  readonly resetMs: number;
}

export interface RateLimitDecision extends RateLimitBudget {
  readonly isAllowed: boolean;
}

/** Counts requests per client, exactly. Every limiter passes `test/contracts/limiter.ts`. */
export interface RateLimiter {
  /** Decides one request of one client; a refused one is not counted. May answer at once or later. */
  hit(client: string, limit: RateLimit): RateLimitDecision | Promise<RateLimitDecision>;
  close(): Promise<void>;
}
