import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeader } from 'node:http';
import type { CacheOutcome } from '../../domain/errors.ts';
import type { ResponseWriter } from '../../lib/http/response-writer.ts';
import { ALLOWED_METHODS, type HttpResponse, type RequestContext } from '../request/context.ts';

/** On every response of the public listener: any page may read any of them. */
export const COMMON_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'RateLimit-Policy, RateLimit, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, ETag, Retry-After, Cache-Status, X-Request-Id',
  'cross-origin-resource-policy': 'cross-origin',
  'timing-allow-origin': '*',
  'x-content-type-options': 'nosniff',
} as const;

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

/** `Cache-Status` (RFC 9211) of a looked-up response. None for one from the catalog, for which no cache was asked. */
export function cacheStatusFields(outcome: CacheOutcome): { readonly 'cache-status'?: string } {
  return outcome.kind === 'own' ? {} : { 'cache-status': cacheStatusOf(outcome) };
}

function cacheStatusOf({ kind, ttlMs, isStored, isCollapsed, reason }: CacheOutcome): string {
  const ttlSeconds = Math.round(ttlMs / 1000);
  if (kind === 'hit') return `pennant; hit; ttl=${ttlSeconds}`;
  if (kind === 'stale') return `pennant; hit; ttl=${ttlSeconds}; detail="${reason ?? 'stale'}"`;
  const forwarded = kind === 'miss' ? 'uri-miss' : 'stale';
  return `pennant; fwd=${forwarded}${isStored ? '; stored' : ''}${isCollapsed ? '; collapsed' : ''}`;
}

/** How long a cache may store a stale value. The next attempt to replace it may succeed after that time. */
export const STALE_MAX_AGE_MS = 60_000;

/** How long a cache may store a response with this value: the rest of its freshness, or a minute if it is stale. */
export function keptForMs({ kind, ttlMs, isProvisional = false }: CacheOutcome): number {
  if (kind === 'stale') return STALE_MAX_AGE_MS;
  return Math.max(0, isProvisional ? Math.min(ttlMs, STALE_MAX_AGE_MS) : ttlMs);
}

/** `Cache-Control` of a response that any cache may store for this long. */
export function publicFor(ms: number): string {
  return `public, max-age=${Math.round(ms / 1000)}`;
}

/** A strong entity tag (RFC 9110 section 8.8.3) of these bytes. */
export function entityTag(body: string | Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

/**
 * The response, or a 304 if it has an ETag and the client's copy can still be used.
 *
 * RFC 9110 section 13.2.2: `If-None-Match` with weak comparison, lists and `*`; `If-Modified-Since` only without
 * `If-None-Match`.
 */
export function applyConditions({ request }: Pick<RequestContext, 'request'>, response: HttpResponse): HttpResponse {
  return response.status === 200 && isUnchanged(request.headers, response) ? notModified(response) : response;
}

function isUnchanged(requested: IncomingHttpHeaders, { headers: { etag }, lastModifiedMs }: HttpResponse): boolean {
  if (etag === undefined) return false;
  const ifNoneMatch = requested['if-none-match'];
  if (ifNoneMatch !== undefined) return isNamed(etag, ifNoneMatch);
  if (lastModifiedMs === undefined) return false;
  const sinceMs = parseHttpDate(requested['if-modified-since'] ?? '');
  return sinceMs !== undefined && Math.floor(lastModifiedMs / 1000) * 1000 <= sinceMs;
}

function isNamed(etag: string, ifNoneMatch: string): boolean {
  const named: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || named.includes(etag);
}

/** Without the fields that describe the body (RFC 9110 section 15.4.5). */
function notModified({ headers, cache }: HttpResponse): HttpResponse {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'));
  return { status: 304, headers: Object.fromEntries(kept), cache };
}

/**
 * Reads an HTTP-date (RFC 9110 section 5.6.7) in milliseconds since 1970; `undefined` for any other text. Clients repeat
 * `Last-Modified`, so only its form is read, not the two forms that were obsolete in 1999.
 */
export function parseHttpDate(text: string): number | undefined {
  const date = new Date(text);
  return date.toUTCString() === text ? date.getTime() : undefined;
}

/** The step that writes the response with the fields that every response carries. */
export function createSend({ responseWriter }: { readonly responseWriter: ResponseWriter }) {
  return (context: RequestContext, { status, headers, body, bodyEncoding, onSent }: HttpResponse): undefined => {
    const { response } = context;
    const encoding = bodyEncoding ?? 'utf8';
    const fields: (string | number)[] = [...COMMON_FIELDS, 'x-request-id', context.id];
    pushFields(fields, context.limitHeaders);
    pushFields(fields, headers);
    if (context.isNegotiated) fields.push('vary', 'Accept');
    if (context.isLast) fields.push('connection', 'close');
    if (body !== undefined) fields.push('content-length', Buffer.byteLength(body, encoding));
    response.writeHead(status, fields as OutgoingHttpHeader[]);
    responseWriter.end(response, body, encoding, onSent);
  };
}

const COMMON_FIELDS = Object.entries(COMMON_HEADERS).flat();

/** Names and values in turn. Node writes such a list directly, while it would convert an object first. */
function pushFields(fields: (string | number)[], headers: Readonly<Record<string, string>>): void {
  for (const name in headers) fields.push(name, headers[name] as string);
}
