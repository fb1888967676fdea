import { createHash } from 'node:crypto';
import type { CacheOutcome, ErrorCode } from '../../domain/errors.ts';

/** What is needed to answer a conditional request. */
export interface Validators {
  /** Strong, with its quotes. */
  readonly etag: string;
  readonly lastModifiedMs?: number;
  /** ETags of earlier forms that are still as good as this one. */
  readonly earlierEtags?: readonly string[];
}

/** Why a response is a 5xx, for the log. */
export interface Failure {
  readonly code: ErrorCode;
  readonly error: unknown;
}

/** A response as data. The fields that every response carries are added when it is sent. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** How the characters of a text become bytes. Default: UTF-8. */
  readonly bodyEncoding?: 'latin1';
  /** Where a looked-up value came from, for metrics and the log. */
  readonly cache?: CacheOutcome['kind'];
  /** Set when the failure is not the client's. */
  readonly failure?: Failure;
  /** With them the response becomes a 304 when the client has it already. */
  readonly cacheValidators?: Validators;
}

/** On every response of the public listener: any page may read any of them. */
export const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, Retry-After, Cache-Status, X-Request-Id',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
  'x-content-type-options': 'nosniff',
} as const;

export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';

/** The response to a preflight. Browsers may remember it for a day. */
export const PREFLIGHT: HttpResponse = {
  status: 204,
  headers: {
    allow: ALLOWED_METHODS,
    'access-control-allow-methods': ALLOWED_METHODS,
    'access-control-allow-headers': '*',
    'access-control-max-age': '86400',
  },
};

/** `Cache-Status` (RFC 9211) of a looked-up response. */
export function cacheStatusOf({ kind, ttlMs, isStored, isCollapsed, reason }: CacheOutcome): string {
  const ttlSeconds = Math.round(ttlMs / 1000);
  if (kind === 'hit') return `pennant; hit; ttl=${ttlSeconds}`;
  if (kind === 'stale') return `pennant; hit; ttl=${ttlSeconds}; detail="${reason ?? 'stale'}"`;
  const forwarded = kind === 'miss' ? 'uri-miss' : 'stale';
  return `pennant; fwd=${forwarded}${isStored ? '; stored' : ''}${isCollapsed ? '; collapsed' : ''}`;
}

const STALE_MAX_AGE_SECONDS = 60;

/** `max-age` is what is left of the value's freshness. A stale value is sent with a minute. */
export function cacheControlOf({ kind, ttlMs }: CacheOutcome): string {
  const seconds = kind === 'stale' ? STALE_MAX_AGE_SECONDS : Math.max(0, Math.round(ttlMs / 1000));
  return `public, max-age=${seconds}`;
}

/** A strong entity tag (RFC 9110 section 8.8.3) of these bytes. */
export function entityTag(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}
