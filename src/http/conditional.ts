import type { IncomingHttpHeaders } from 'node:http';

export interface Validators {
  /** Strong, with its quotes. */
  readonly etag: string;
  readonly lastModifiedMs?: number;
  /** ETags of earlier forms that are as good as this one. */
  readonly earlierEtags?: readonly string[];
}

/**
 * Whether the client's copy is still right (RFC 9110 section 13.2.2): `If-None-Match` with weak comparison, lists and
 * `*`; `If-Modified-Since` only where there is no `If-None-Match`.
 */
export function isNotModified(headers: IncomingHttpHeaders, validators: Validators): boolean {
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) return matchesAny(ifNoneMatch, validators);
  const { lastModifiedMs } = validators;
  const ifModifiedSince = headers['if-modified-since'];
  if (ifModifiedSince === undefined || lastModifiedMs === undefined) return false;
  const sinceMs = Date.parse(ifModifiedSince);
  return !Number.isNaN(sinceMs) && Math.floor(lastModifiedMs / 1000) * 1000 <= sinceMs;
}

function matchesAny(ifNoneMatch: string, { etag, earlierEtags = [] }: Validators): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const current = [etag, ...earlierEtags];
  const given = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return given.some((tag) => current.includes(tag));
}
