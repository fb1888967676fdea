import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { PublicResponse, RequestContext } from '../request/context.ts';

/** A response with status 200 and a strong entity tag (RFC 9110 section 8.8.3) of its body. */
export function taggedResponse(
  headers: PublicResponse['headers'],
  body: string | Buffer,
  outcome?: CacheOutcome,
): PublicResponse {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { status: 200, headers: { ...headers, etag }, body, outcome };
}

/**
 * The response, or a 304 if it has an ETag and the client's copy can still be used.
 *
 * RFC 9110 section 13.2.2: `If-None-Match` with weak comparison, lists and `*`; `If-Modified-Since` only without
 * `If-None-Match`.
 */
export function applyConditions(
  { request }: Pick<RequestContext, 'request'>,
  response: PublicResponse,
): PublicResponse {
  return response.status === 200 && isUnchanged(request.headers, response) ? notModified(response) : response;
}

function isUnchanged(requested: IncomingHttpHeaders, { headers }: PublicResponse): boolean {
  const { etag, 'last-modified': lastModified } = headers;
  if (etag === undefined) return false;
  const ifNoneMatch = requested['if-none-match'];
  if (ifNoneMatch !== undefined) return isNamed(etag, ifNoneMatch);
  if (lastModified === undefined) return false;
  const sinceMs = parseHttpDate(requested['if-modified-since'] ?? '');
  return sinceMs !== undefined && Date.parse(lastModified) <= sinceMs;
}

function isNamed(etag: string, ifNoneMatch: string): boolean {
  const named: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return ifNoneMatch.trim() === '*' || named.includes(etag);
}

/** The 304 for a response. It lacks the fields that describe the body (RFC 9110 section 15.4.5). */
function notModified({ headers, outcome, error }: PublicResponse): PublicResponse {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'));
  return { status: 304, headers: Object.fromEntries(kept), outcome, error };
}

/**
 * Reads an HTTP-date (RFC 9110 section 5.6.7) in milliseconds since 1970; `undefined` for any other text. Clients repeat the
 * value of `Last-Modified`, so the two obsolete forms are not read.
 */
function parseHttpDate(text: string): number | undefined {
  const date = new Date(text);
  return date.toUTCString() === text ? date.getTime() : undefined;
}
