import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { PublicResponse } from '../request/context.ts';
import { applyConditions } from './conditions.ts';

const STORED_MS = Date.UTC(2026, 0, 1, 12, 0, 0, 900);
const RESPONSE: PublicResponse = {
  status: 200,
  headers: { etag: '"new"' },
  lastModifiedMs: STORED_MS,
};

/** The ETag of the 304. `undefined` if the response is sent as it is. */
function findUnchangedEtag(headers: IncomingHttpHeaders, response = RESPONSE): string | undefined {
  const conditional = applyConditions({ request: { headers } as IncomingMessage }, response);
  if (conditional === response) return undefined;
  expect(conditional.status).toBe(304);
  return conditional.headers.etag;
}

describe('a conditional request', () => {
  it.each([
    ['"new"', '"new"'],
    ['W/"new"', '"new"'],
    ['*', '"new"'],
    [' * ', '"new"'],
    ['"other", "new"', '"new"'],
    ['"other"', undefined],
    ['', undefined],
    ['new', undefined],
    ['"', undefined],
    ['"other", *', undefined],
  ])('with If-None-Match %s matches: %s', (ifNoneMatch, etag) => {
    expect(findUnchangedEtag({ 'if-none-match': ifNoneMatch })).toBe(etag);
  });

  it.each([
    ['Thu, 01 Jan 2026 12:00:00 GMT', '"new"'],
    ['Tue, 01 Jan 2030 00:00:00 GMT', '"new"'],
    ['Thu, 01 Jan 2026 11:59:59 GMT', undefined],
    ['2030', undefined],
    ['2030-01-01T00:00:00Z', undefined],
    ['Tue, 01 Jan 2030 00:00:00', undefined],
    ['never', undefined],
  ])('with If-Modified-Since %s matches: %s', (ifModifiedSince, etag) => {
    expect(findUnchangedEtag({ 'if-modified-since': ifModifiedSince })).toBe(etag);
  });

  it('ignores If-Modified-Since if there is an If-None-Match', () => {
    const headers = { 'if-none-match': '"other"', 'if-modified-since': 'Tue, 01 Jan 2030 00:00:00 GMT' };
    expect(findUnchangedEtag(headers)).toBeUndefined();
  });

  it('by date does not match if the date is unknown', () => {
    const headers = { 'if-modified-since': 'Tue, 01 Jan 2030 00:00:00 GMT' };
    expect(findUnchangedEtag(headers, { status: 200, headers: { etag: '"new"' } })).toBeUndefined();
  });
});
