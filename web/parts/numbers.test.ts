import { describe, expect, test } from 'vitest';
import { formatBytes, formatCount, formatDuration } from './numbers.ts';

describe('numbers', () => {
  test.each([
    [0.05, '< 0.1 ms'],
    [0.1, '0.1 ms'],
    [9.94, '9.9 ms'],
    [10, '10 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [9_940, '9.9 s'],
    [12_300, '12 s'],
  ])('a duration of %d ms is "%s"', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test.each([
    [999, '999 bytes'],
    [1_000, '1.0 kB'],
    [999_900, '999.9 kB'],
    [2_000_000, '2.0 MB'],
  ])('%d bytes are "%s"', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  test('a count keeps all digits of a number that no double holds', () => {
    expect(formatCount('9007199254740993')).toBe('9,007,199,254,740,993');
    expect([formatCount(0), formatCount(999), formatCount(1_000)]).toEqual(['0', '999', '1,000']);
  });
});
