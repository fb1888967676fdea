import { describe, expect, it } from 'vitest';
import { type EncoderLimits, encoderLimitsFor } from './limits.ts';

const MIB = 1024 * 1024;

/** Processes, and the memory of each between and during jobs. */
function inMib({ processes, maxRssBytes, maxDataBytes }: EncoderLimits): number[] {
  return [processes, ...[maxRssBytes, maxDataBytes].map((bytes) => Math.floor(bytes / MIB))];
}

describe('the limits of encoders', () => {
  it.each([
    ['a machine with plenty of both', 4, 16_384, [4, 512, 1_536]],
    ['two cores and 1 GiB', 2, 1_024, [2, 256, 682]],
    ['many cores and 1 GiB', 16, 1_024, [2, 256, 682]],
    ['many cores and 2 GiB', 16, 2_048, [5, 204, 384]],
    ['one core and 128 MiB', 1, 128, [1, 192, 384]],
  ])('follows CPU and memory: %s', (_, cpus, memoryMib, expected) => {
    expect(inMib(encoderLimitsFor({ cpus, memoryBytes: memoryMib * MIB }))).toEqual(expected);
  });

  it('divides the memory by the number of processes that the operator has chosen', () => {
    expect(inMib(encoderLimitsFor({ cpus: 4, memoryBytes: 4_096 * MIB }, 2))).toEqual([2, 512, 1_536]);
    expect(inMib(encoderLimitsFor({ cpus: 4, memoryBytes: 4_096 * MIB }, 8))).toEqual([8, 256, 390]);
  });
});
