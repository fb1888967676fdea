import { describe, expect, test } from 'vitest';
import { formatBytes, formatCount, formatCountry, formatDuration, formatSeconds } from './numbers.ts';

/* The machine's language decides about separators. */

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
    [0, '1 s'],
    [1_000, '1 s'],
    [1_001, '2 s'],
    [59_000, '59 s'],
  ])('a wait of %d ms is "%s"', (ms, text) => expect(formatSeconds(ms)).toBe(text));

  test.each([
    [999, /^999\b.*byte/],
    [1_000, /^1\D*kB$/],
    [1_500, /^1\D5\D*kB$/],
    [999_900, /^999\D9\D*kB$/],
    [2_000_000, /^2\D*MB$/],
    [3_200_000_000, /^3\D2\D*GB$/],
  ])('%d bytes match %s', (bytes, pattern) => expect(formatBytes(bytes)).toMatch(pattern));

  test('a count keeps all digits of a number that no double holds', () => {
    expect(formatCount('9007199254740993').replaceAll(/\D/g, '')).toBe('9007199254740993');
  });

  test('a country has its name, and an unassigned code stays a code', () => {
    expect([formatCountry('DE') === 'DE', formatCountry('QM')]).toEqual([false, 'QM']);
  });
});
