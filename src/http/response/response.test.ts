import { describe, expect, it } from 'vitest';
import { findUnchangedEtag } from './response.ts';

const STORED_MS = Date.UTC(2026, 0, 1, 12, 0, 0, 900);
const VALIDATORS = { etag: '"new"', earlierEtags: ['"old"'], lastModifiedMs: STORED_MS };

describe('a conditional request', () => {
  it.each([
    ['"new"', '"new"'],
    ['W/"new"', '"new"'],
    ['*', '"new"'],
    [' * ', '"new"'],
    ['"other", "new"', '"new"'],
    ['"old"', '"old"'],
    ['W/"old"', '"old"'],
    ['"old", "new"', '"new"'],
    ['"other"', undefined],
    ['', undefined],
    ['new', undefined],
    ['"', undefined],
    ['"other", *', undefined],
  ])('with If-None-Match %s finds %s', (ifNoneMatch, etag) => {
    expect(findUnchangedEtag({ 'if-none-match': ifNoneMatch }, VALIDATORS)).toBe(etag);
  });

  it.each([
    ['Thu, 01 Jan 2026 12:00:00 GMT', '"new"'],
    ['Thursday, 01-Jan-26 12:00:00 GMT', '"new"'],
    ['Thu Jan  1 12:00:00 2026', '"new"'],
    ['Tue, 01 Jan 2030 00:00:00 GMT', '"new"'],
    ['Thu, 01 Jan 2026 11:59:59 GMT', undefined],
    ['2030', undefined],
    ['2030-01-01T00:00:00Z', undefined],
    ['Tue, 01 Jan 2030 00:00:00', undefined],
    ['never', undefined],
  ])('with If-Modified-Since %s finds %s', (ifModifiedSince, etag) => {
    expect(findUnchangedEtag({ 'if-modified-since': ifModifiedSince }, VALIDATORS)).toBe(etag);
  });

  it('goes by If-None-Match alone where there is one', () => {
    const headers = { 'if-none-match': '"other"', 'if-modified-since': 'Tue, 01 Jan 2030 00:00:00 GMT' };
    expect(findUnchangedEtag(headers, VALIDATORS)).toBeUndefined();
  });

  it('by date finds nothing where no date is known', () => {
    const headers = { 'if-modified-since': 'Tue, 01 Jan 2030 00:00:00 GMT' };
    expect(findUnchangedEtag(headers, { etag: '"new"' })).toBeUndefined();
  });
});
