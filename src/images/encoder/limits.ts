import type { ResourceLimits } from '../../lib/resource-limits.ts';

const MIB = 1024 * 1024;
/** A new process takes 70 MiB. One that encodes common banners stays below this. */
const MIN_RSS_BYTES = 192 * MIB;
const MAX_RSS_BYTES = 512 * MIB;
/** A banner of 4,096×2,304 as AVIF takes 320 MiB. */
const MIN_DATA_BYTES = 384 * MIB;
/** The largest originals as AVIF of 4,096×4,096 take 1.3 GiB. */
const MAX_DATA_BYTES = 1_536 * MIB;

export interface EncoderLimits {
  readonly processes: number;
  readonly maxRssBytes: number;
  readonly maxDataBytes: number;
}

/**
 * The number of encoder processes, and the memory that each may have. Between jobs they keep at most half of the memory
 * together; the other half is for the server and the page cache. During large jobs, which leave one process, they take at most
 * two thirds.
 *
 * @param wanted the number of processes if the operator has chosen it
 */
export function encoderLimitsFor({ cpus, memoryBytes }: ResourceLimits, wanted?: number): EncoderLimits {
  const share = memoryBytes / 2;
  const processes = wanted ?? Math.max(1, Math.min(cpus, Math.floor(share / MIN_RSS_BYTES)));
  const withLargeJobs = Math.max(1, processes - 1);
  const bounded = (least: number, bytes: number, most: number) => Math.max(least, Math.min(most, Math.floor(bytes)));
  return {
    processes,
    maxRssBytes: bounded(MIN_RSS_BYTES, share / processes, MAX_RSS_BYTES),
    maxDataBytes: bounded(MIN_DATA_BYTES, (memoryBytes * 2) / 3 / withLargeJobs, MAX_DATA_BYTES),
  };
}
