import type { IncomingHttpHeaders } from 'node:http';
import { parseHttpDate } from './http-date.ts';

export interface Validators {
  /** Strong, with its quotes. */
  readonly etag: string;
  readonly lastModifiedMs?: number;
  /** ETags of earlier forms that are as good as this one. */
  readonly earlierEtags?: readonly string[];
}

/**
 * The ETag of the client's copy when that copy can still be used, so that the answer is 304 with this ETag; `undefined`
 * when the client needs the whole answer.
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
