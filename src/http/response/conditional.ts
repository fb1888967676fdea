import type { IncomingHttpHeaders } from 'node:http';
import { parseHttpDate } from './http-date.ts';
import type { HttpResponse, Validators } from './response.ts';

/** The response, or the 304 that stands for it when the client has it already. */
export function applyConditions(headers: IncomingHttpHeaders, response: HttpResponse): HttpResponse {
  const { cacheValidators } = response;
  if (cacheValidators === undefined) return response;
  const etag = findUnchangedEtag(headers, cacheValidators);
  return etag === undefined ? response : notModified(response, etag);
}

/**
 * The ETag of the client's copy when that copy can still be used. `undefined` when the client needs the whole response.
 *
 * RFC 9110 section 13.2.2: `If-None-Match` with weak comparison, lists and `*`; `If-Modified-Since` only without
 * `If-None-Match`.
 */
export function findUnchangedEtag(headers: IncomingHttpHeaders, validators: Validators): string | undefined {
  const { etag, lastModifiedMs, earlierEtags = [] } = validators;
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) return findMatch(ifNoneMatch, [etag, ...earlierEtags]);
  const ifModifiedSince = headers['if-modified-since'];
  if (ifModifiedSince === undefined || lastModifiedMs === undefined) return undefined;
  const sinceMs = parseHttpDate(ifModifiedSince);
  return sinceMs !== undefined && Math.floor(lastModifiedMs / 1000) * 1000 <= sinceMs ? etag : undefined;
}

/** The first of the usable ETags that the field names. */
function findMatch(ifNoneMatch: string, usable: readonly string[]): string | undefined {
  if (ifNoneMatch.trim() === '*') return usable[0];
  const given: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return usable.find((etag) => given.includes(etag));
}

/** Without the fields that describe the body (RFC 9110 section 15.4.5). */
function notModified({ headers, cache }: HttpResponse, etag: string): HttpResponse {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('content-'));
  return { status: 304, headers: { ...Object.fromEntries(kept), etag }, ...(cache !== undefined && { cache }) };
}
