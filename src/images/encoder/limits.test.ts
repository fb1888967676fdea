import { describe, expect, it } from 'vitest';
import { poolSizeFor } from './pool.ts';

const MIB = 1024 * 1024;

describe('the size of the encoder pool', () => {
  it.each([
    ['a machine with plenty of both', 4, 16_384, { processes: 4, maxRssBytes: 512 * MIB }],
    ['two cores and 1 GiB', 2, 1_024, { processes: 2, maxRssBytes: 256 * MIB }],
    ['many cores and 1 GiB', 16, 1_024, { processes: 2, maxRssBytes: 256 * MIB }],
    ['a core and a half', 1.5, 16_384, { processes: 1, maxRssBytes: 512 * MIB }],
    ['half a core and 128 MiB', 0.5, 128, { processes: 1, maxRssBytes: 192 * MIB }],
  ])('follows CPU and memory: %s', (_, cpus, memoryMib, expected) => {
    expect(poolSizeFor({ cpus, memoryBytes: memoryMib * MIB })).toEqual(expected);
  });
});
