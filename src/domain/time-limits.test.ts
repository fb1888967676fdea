import { expect, test } from 'vitest';
import { TIME_LIMITS_MS } from './time-limits.ts';

type TimeLimit = keyof typeof TIME_LIMITS_MS;

/** The limit that contains each limit: work under the first ends when the second one does. */
const TIME_LIMIT_WITHIN: Readonly<Partial<Record<TimeLimit, TimeLimit>>> = {
  image: 'response',
  search: 'response',
  batch: 'response',
  namedChannel: 'search',
  sourceAttempt: 'allSources',
  upstreamCall: 'sourceAttempt',
  clientVersion: 'sourceAttempt',
  aboutWait: 'sourceAttempt',
  fillMissingFields: 'sourceAttempt',
  searchSoftTimeout: 'slowSourceWait',
  slowSourceWait: 'search',
  softTimeout: 'response',
  download: 'image',
  encoderWait: 'image',
  inspect: 'image',
  encode: 'image',
  catalogRead: 'softTimeout',
  imageRead: 'softTimeout',
  storeRead: 'softTimeout',
};

const { response, search, softTimeout, storeRead, allSources, sourceAttempt, fillMissingFields } = TIME_LIMITS_MS;
/** No client waits longer for a response. */
const MAX_RESPONSE_MS = 12_000;
/** The time for writing a response after its limit, even on a busy machine. */
const WRITING_MS = 500;

test.each(Object.entries(TIME_LIMIT_WITHIN) as [TimeLimit, TimeLimit][])(
  'the limit "%s" is not longer than "%s", which bounds it',
  (inner, outer) => {
    expect(TIME_LIMITS_MS[inner]).toBeLessThanOrEqual(TIME_LIMITS_MS[outer]);
  },
);

test('a response takes at most 12 s', () => {
  expect(response + WRITING_MS).toBeLessThanOrEqual(MAX_RESPONSE_MS);
  expect(search + storeRead).toBeLessThanOrEqual(response);
});

test('a stale value is returned well before the response limit', () => {
  expect(storeRead + softTimeout + storeRead).toBeLessThan(response);
});

test('two sources can be tried one after another, and missing fields can be filled', () => {
  expect(2 * sourceAttempt + fillMissingFields).toBeLessThanOrEqual(allSources);
});
