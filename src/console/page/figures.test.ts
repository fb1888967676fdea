import { describe, expect, test } from 'vitest';
import {
  byFill,
  countLabels,
  fillOf,
  formatDurationOf,
  formatRate,
  formatUptime,
  inColumns,
  lookupFigures,
} from './figures.ts';

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

describe('caches and queues', () => {
  test('are as full as their entries or bytes, whichever is more', () => {
    expect(fillOf({ entries: 1, maxEntries: 4, bytes: 90, maxBytes: 100 })).toBe(0.9);
    expect(fillOf({ entries: 3, maxEntries: 4, bytes: 10, maxBytes: 100 })).toBe(0.75);
    expect(fillOf({ entries: 500 })).toBe(0);
    expect(fillOf({ entries: 0, maxEntries: 0 })).toBe(0);
  });

  test('above 70 % come first, fullest first, and the others stay in their order', () => {
    const at = (entries: number) => ({ name: `${entries}`, entries, maxEntries: 100 });
    const { full, others } = byFill([at(10), at(71), at(70), at(100), at(0)]);
    expect(full.map(({ name }) => name)).toEqual(['100', '71']);
    expect(others.map(({ name }) => name)).toEqual(['10', '70', '0']);
  });
});

describe('times and rates', () => {
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

  test.each([
    [0, '0.0', 'a minute'],
    [0.05, '3.0', 'a minute'],
    [0.99, '59', 'a minute'],
    [1, '1.0', 'a second'],
    [9.94, '9.9', 'a second'],
    [10.4, '10', 'a second'],
  ])('a rate of %d is %s %s', (perSecond, amount, unit) => expect(formatRate(perSecond)).toEqual({ amount, unit }));
});

describe('a chart', () => {
  test('sums consecutive values in a column', () => expect(inColumns([1, 2, 3, 4, 5], 2)).toEqual([3, 7, 5]));

  test('has a middle label for an even bound only', () => {
    expect([countLabels(8), countLabels(7)]).toEqual([
      ['8', '4', '0'],
      ['7', '', '0'],
    ]);
  });
});
