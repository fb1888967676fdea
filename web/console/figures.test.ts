import { describe, expect, test } from 'vitest';
import { formatDurationOf, formatUptime, growthSince, lookupFigures, quantile } from './figures.ts';

describe('cache lookups', () => {
  test('count stale responses as hits, and refreshed ones as misses', () => {
    expect(lookupFigures({ hit: 5, stale: 3, miss: 1, refreshed: 1 })).toEqual({
      total: 10,
      hitPercent: 80,
      shares: { hit: 0.5, stale: 0.3, miss: 0.2 },
    });
  });

  test('have no rate before the first one', () => expect(lookupFigures({})).toBeUndefined());
});

describe('times', () => {
  test.each([
    [59_999, '59 s'],
    [60_000, '1 min'],
    [5_400_000, '1 h 30 min'],
    [172_799_000, '47 h 59 min'],
    [172_800_000, '2 days'],
  ])('%d ms of uptime are "%s"', (ms, text) => expect(formatUptime(ms)).toBe(text));

  test('a duration in seconds is shown in milliseconds', () => {
    expect([formatDurationOf(0.25), formatDurationOf(null)]).toEqual(['250 ms', '–']);
  });
});

const bucketsOf = (first: number, second: number, third: number, all: number) => ({
  '1': second,
  '10': third,
  '0.1': first,
  '+Inf': all,
});

test.each([
  ['is interpolated inside its bucket', bucketsOf(0, 10, 10, 10), 0.5, 0.55],
  ['is the bound of a full bucket', bucketsOf(0, 10, 10, 10), 1, 1],
  ['counts the buckets below', bucketsOf(90, 90, 100, 100), 0.95, 5.5],
  ['is the last finite bound for values above it', bucketsOf(1, 1, 1, 100), 0.5, 10],
])('a quantile %s', (_what, buckets, share, value) => expect(quantile(buckets, share)).toBeCloseTo(value));

test.each([bucketsOf(0, 0, 0, 0), {}])('a quantile is unknown without observations: %j', (buckets) =>
  expect(quantile(buckets, 0.5)).toBeNull(),
);

test('the growth excludes earlier counts, at every level', () => {
  const earlier = { all: 1, kinds: { old: 2, same: 1 } };
  const now = { all: 1, kinds: { old: 5, same: 1, new: 1 } };
  expect(growthSince(now, earlier)).toEqual({ all: 0, kinds: { old: 3, same: 0, new: 1 } });
  expect(growthSince(now)).toEqual(now);
});
