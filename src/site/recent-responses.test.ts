import { expect, test } from 'vitest';
import { createRecentResponses, type ReceivedResponse } from './recent-responses.ts';

const SIZE = 8_000_000;

function response(cacheControl: string, bytes = 1): ReceivedResponse {
  const headers = new Headers({ 'cache-control': cacheControl });
  return { headers, body: new Blob([new Uint8Array(bytes)]), durationMs: 1, isFromBrowser: false };
}

test('a response is kept for max-age seconds', () => {
  let nowMs = 0;
  const recent = createRecentResponses(() => nowMs);
  const kept = response('public, max-age=60');
  recent.keep('a', kept);
  nowMs = 59_999;
  expect(recent.get('a')).toBe(kept);
  nowMs = 60_000;
  expect(recent.get('a')).toBeUndefined();
});

test('a response without a lifetime is not kept', () => {
  const recent = createRecentResponses(() => 0);
  for (const cacheControl of ['no-store', 'public, max-age=0', '']) {
    recent.keep('a', response(cacheControl));
    expect(recent.get('a')).toBeUndefined();
  }
});

test('at most 24 MB and 60 responses are kept, and the least recently stored one is dropped first', () => {
  const recent = createRecentResponses(() => 0);
  for (const key of ['a', 'b', 'c']) recent.keep(key, response('max-age=60', SIZE));
  recent.keep('a', response('max-age=60', SIZE));
  recent.keep('d', response('max-age=60', SIZE));
  expect(['a', 'b', 'c', 'd'].filter((key) => recent.get(key) !== undefined)).toEqual(['a', 'c', 'd']);
  recent.keep('large', response('max-age=60', 3 * SIZE + 1));
  expect(recent.get('large')).toBeUndefined();

  const many = createRecentResponses(() => 0);
  for (let number = 0; number < 61; number += 1) many.keep(String(number), response('max-age=60'));
  expect([many.get('0'), many.get('1')?.body.size]).toEqual([undefined, 1]);
});
