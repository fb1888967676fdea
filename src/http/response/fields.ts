import type { CacheOutcome } from '../../domain/cache-outcome.ts';

/** The media type of JSON (RFC 8259). */
export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
/** The media type of problems (RFC 9457). */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** The fields of every response to a client with a limit. */
export const LIMIT_FIELDS = [
  'RateLimit-Policy',
  'RateLimit',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** The fields of every response that are always the same. Any page may read any response. */
export const FIXED_FIELDS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': [...LIMIT_FIELDS, 'ETag', 'Retry-After', 'Cache-Status', 'X-Request-Id'].join(', '),
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Timing-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
};

/** The fields of every response of the public listener. */
export const COMMON_FIELDS = ['X-Request-Id', ...Object.keys(FIXED_FIELDS)];

/** `Cache-Status` (RFC 9211) for a looked-up value. A value from the catalog has none, because no cache was looked up. */
export function cacheStatusFields(outcome: CacheOutcome | undefined): { readonly 'cache-status'?: string } {
  return outcome === undefined || outcome.kind === 'catalog' ? {} : { 'cache-status': cacheStatusOf(outcome) };
}

function cacheStatusOf({ kind, ttlMs, isStored, isCollapsed, reason }: CacheOutcome): string {
  const ttlSeconds = Math.round(ttlMs / 1000);
  if (kind === 'hit') return `pennant; hit; ttl=${ttlSeconds}`;
  if (kind === 'stale') return `pennant; hit; ttl=${ttlSeconds}; detail="${reason ?? 'stale'}"`;
  const forwarded = kind === 'miss' ? 'uri-miss' : 'stale';
  return `pennant; fwd=${forwarded}${isStored ? '; stored' : ''}${isCollapsed ? '; collapsed' : ''}`;
}

/** How long a cache may store a stale value: a later request may get a fresh one. */
const STALE_MAX_AGE_MS = 60_000;

/** How long a cache may store a response with this value: as long as it is fresh, and briefly if it is stale. */
export function keptForMs({ kind, ttlMs }: CacheOutcome): number {
  return kind === 'stale' ? STALE_MAX_AGE_MS : Math.max(0, ttlMs);
}

/** `Cache-Control` of a response that any cache may store for this long. */
export function publicFor(ms: number): string {
  return `public, max-age=${Math.round(ms / 1000)}`;
}
