import type { RateLimitOverride } from '../domain/setting-forms.ts';
import { createNetworkTable, parseAddress } from '../lib/ip-address.ts';

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

export type ClientLimit = RateLimit | 'unlimited';

/**
 * Which limit holds for an address: the override with the longest prefix, else the default. Costs
 * nothing where there are no overrides.
 */
export function createLimitLookup(
  defaultLimit: RateLimit,
  overrides: readonly RateLimitOverride[],
): (address: string) => ClientLimit {
  if (overrides.length === 0) return () => defaultLimit;
  const find = createNetworkTable(overrides.map(({ range, limit }) => [range, limit] as const));
  return (text) => {
    const address = parseAddress(text);
    return (address === undefined ? undefined : find(address)) ?? defaultLimit;
  };
}
