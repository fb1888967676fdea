import type { RateLimitOverride } from '../domain/setting-forms.ts';
import { createNetworkTable, parseAddress } from '../lib/ip-address.ts';
import type { RateLimit } from './limiter.ts';

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
