import { describe, expect, it } from 'vitest';
import { firstRowOf, ROWS_PER_COUNT } from './search.ts';

describe('firstRowOf', () => {
  it('counts down as subscribers go up, and puts unknown after none', () => {
    const rows = ['4000000000', '1000', '999', '1', '0', null].map(firstRowOf);
    expect(rows).toEqual([...rows].sort((a, b) => a - b));
    expect(new Set(rows).size).toBe(rows.length);
  });

  it('leaves each count its rows, and stays among the integers that are exact', () => {
    expect(firstRowOf('7') - firstRowOf('8')).toBe(ROWS_PER_COUNT);
    expect(Number.isSafeInteger(firstRowOf(null) + ROWS_PER_COUNT - 1)).toBe(true);
  });

  it('ranks impossible counts alike', () => {
    expect(firstRowOf('9999999999999999999')).toBe(firstRowOf('5000000000'));
    expect(firstRowOf('9999999999999999999')).toBeGreaterThanOrEqual(0);
  });
});
