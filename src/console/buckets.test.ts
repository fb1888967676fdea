import { describe, expect, test } from 'vitest';
import { growthSince, quantile } from './history.ts';

const bucketsOf = (first: number, second: number, third: number, all: number) => ({
  '1': second,
  '10': third,
  '0.1': first,
  '+Inf': all,
});

describe('a quantile', () => {
  test('is interpolated inside its bucket', () => {
    const buckets = bucketsOf(0, 10, 10, 10);
    expect(quantile(buckets, 0.5)).toBeCloseTo(0.55);
    expect(quantile(buckets, 1)).toBeCloseTo(1);
  });

  test('counts the buckets below', () => {
    expect(quantile(bucketsOf(90, 90, 100, 100), 0.95)).toBeCloseTo(5.5);
  });

  test('is the last finite bound for values above it', () => {
    expect(quantile(bucketsOf(1, 1, 1, 100), 0.5)).toBe(10);
  });

  test('is unknown without observations', () => {
    expect(quantile(bucketsOf(0, 0, 0, 0), 0.5)).toBeNull();
    expect(quantile({}, 0.5)).toBeNull();
  });
});

test('the growth excludes earlier counts, at every level', () => {
  const earlier = { all: 1, kinds: { old: 2, same: 1 } };
  const now = { all: 1, kinds: { old: 5, same: 1, new: 1 } };
  expect(growthSince(now, earlier)).toEqual({ all: 0, kinds: { old: 3, same: 0, new: 1 } });
  expect(growthSince(now)).toEqual(now);
});
