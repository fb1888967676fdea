import { expect, test } from 'vitest';
import { TIME_LIMITS_MS } from './time-limits.ts';

type TimeLimit = keyof typeof TIME_LIMITS_MS;

/** The limit that contains each limit. The first never takes longer, because the second ends it. */
const TIME_LIMIT_WITHIN: Readonly<Partial<Record<TimeLimit, TimeLimit>>> = {
  response: 'promise',
  request: 'promise',
  image: 'response',
  search: 'response',
  batch: 'response',
  namedChannel: 'search',
  sourceAttempt: 'request',
  upstreamCall: 'sourceAttempt',
  clientVersion: 'sourceAttempt',
  aboutWait: 'sourceAttempt',
  fillMissingFields: 'sourceAttempt',
  staleSearchWait: 'slowSourceWait',
  slowSourceWait: 'search',
  refreshWait: 'response',
  download: 'image',
  encoderWait: 'image',
  inspect: 'image',
  encode: 'image',
  catalogRead: 'refreshWait',
  imageRead: 'refreshWait',
  storeRead: 'refreshWait',
};

const { promise, response, search, refreshWait, storeRead, request, sourceAttempt, fillMissingFields } = TIME_LIMITS_MS;
/** The time for writing a response after its limit, even on a busy machine. */
const WRITING_MS = 500;

test.each(Object.entries(TIME_LIMIT_WITHIN) as [TimeLimit, TimeLimit][])(
  'the limit "%s" is not longer than "%s", which bounds it',
  (inner, outer) => {
    expect(TIME_LIMITS_MS[inner]).toBeLessThanOrEqual(TIME_LIMITS_MS[outer]);
  },
);

test('a response takes at most 12 s', () => {
  expect(promise).toBe(12_000);
  expect(response + WRITING_MS).toBeLessThanOrEqual(promise);
  expect(search + storeRead).toBeLessThanOrEqual(response);
});

test('a stale value is returned well before the response limit', () => {
  expect(storeRead + refreshWait + storeRead).toBeLessThan(response);
});

test('two sources can be tried one after another, and missing fields can be filled', () => {
  expect(2 * sourceAttempt + fillMissingFields).toBeLessThanOrEqual(request);
});
