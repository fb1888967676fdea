import { describe, expect, test } from 'vitest';
import { bucketsSince, quantile } from './totals.ts';

const BOUNDS = [0.1, 1, 10, Number.POSITIVE_INFINITY];

describe('a quantile', () => {
  test('is interpolated inside its bucket', () => {
    const buckets = { upperBounds: BOUNDS, counts: [0, 10, 0, 0] };
    expect(quantile(buckets, 0.5)).toBeCloseTo(0.55);
    expect(quantile(buckets, 1)).toBeCloseTo(1);
  });

  test('counts the buckets below', () => {
    expect(quantile({ upperBounds: BOUNDS, counts: [90, 0, 10, 0] }, 0.95)).toBeCloseTo(5.5);
  });

  test('is the last finite bound for values above it', () => {
    expect(quantile({ upperBounds: BOUNDS, counts: [1, 0, 0, 99] }, 0.5)).toBe(10);
  });

  test('is unknown without observations', () => {
    expect(quantile({ upperBounds: BOUNDS, counts: [0, 0, 0, 0] }, 0.5)).toBeNull();
    expect(quantile({ upperBounds: [], counts: [] }, 0.5)).toBeNull();
  });
});

test('earlier counts are subtracted', () => {
  const earlier = { upperBounds: BOUNDS, counts: [1, 2, 0, 0] };
  const now = { upperBounds: BOUNDS, counts: [1, 5, 0, 1] };
  expect(bucketsSince(now, earlier).counts).toEqual([0, 3, 0, 1]);
  expect(bucketsSince(now, { upperBounds: [], counts: [] }).counts).toEqual(now.counts);
});
