import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PublicResponse } from '../request/context.ts';
import { applyConditions, parseHttpDate } from './conditions.ts';

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

const EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37);

describe('an HTTP-date', () => {
  it.each([
    ['Sun, 06 Nov 1994 08:49:37 GMT', EXAMPLE],
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
  ])('is read from %s', (text, ms) => {
    expect(parseHttpDate(text)).toBe(ms);
  });

  it('written by the service is read as the same second', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }), (date) => {
        expect(parseHttpDate(date.toUTCString())).toBe(Math.floor(date.getTime() / 1000) * 1000);
      }),
    );
  });

  it.each([
    '',
    '0',
    '2030',
    '2030-01-01',
    '2030-01-01T00:00:00Z',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'sun, 06 nov 1994 08:49:37 gmt',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun,  06 Nov 1994 08:49:37 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:00 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 31 Apr 1994 08:49:37 GMT',
    'Wed, 29 Feb 2023 00:00:00 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    'never',
    '9'.repeat(400),
  ])('is not read from "%s"', (text) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});
