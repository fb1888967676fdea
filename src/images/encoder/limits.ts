import type { ResourceLimits } from '../../lib/cgroup.ts';

const MIB = 1024 * 1024;
/** A fresh process holds 85 MiB; one that has made common banners with a good allocator stays below this. */
const MIN_RSS_BYTES = 192 * MIB;
const MAX_RSS_BYTES = 512 * MIB;

/**
 * How many encoder processes there are, and how much each may hold between jobs: together at most half of the memory,
 * the other half is the server's and the page cache's. A fraction of a core is left to the server: a quota that the
 * encoders use up stops it too, whatever their priority.
 */
export function poolSizeFor(limits: ResourceLimits): { processes: number; maxRssBytes: number } {
  const share = limits.memoryBytes / 2;
  const processes = Math.max(1, Math.min(Math.floor(limits.cpus), Math.floor(share / MIN_RSS_BYTES)));
  const maxRssBytes = Math.max(MIN_RSS_BYTES, Math.min(MAX_RSS_BYTES, Math.floor(share / processes)));
  return { processes, maxRssBytes };
}
