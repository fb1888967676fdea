import { describe, expect, it } from 'vitest';
import { firstRowOf, ROWS_PER_COUNT } from './search.ts';

describe('firstRowOf', () => {
  it('decreases with the number of subscribers, and is highest for an unknown number', () => {
    const rows = ['4000000000', '1000', '999', '1', '0', null].map(firstRowOf);
    expect(rows).toEqual([...rows].sort((a, b) => a - b));
    expect(new Set(rows).size).toBe(rows.length);
  });

  it('reserves enough rows for each count, and stays within the safe integers', () => {
    expect(firstRowOf('7') - firstRowOf('8')).toBe(ROWS_PER_COUNT);
    expect(Number.isSafeInteger(firstRowOf(null) + ROWS_PER_COUNT - 1)).toBe(true);
  });

  it('treats impossible counts alike', () => {
    expect(firstRowOf('9999999999999999999')).toBe(firstRowOf('5000000000'));
    expect(firstRowOf('9999999999999999999')).toBeGreaterThanOrEqual(0);
  });
});
