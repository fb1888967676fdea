import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

/** What this process may use of the machine. */
export interface ResourceLimits {
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** The limits of its cgroup, as Node reads them, or else the machine's. Node sees no CPU quota of cgroup v1. */
export const RESOURCE_LIMITS: ResourceLimits = {
  cpus: availableParallelism(),
  // Node returns 0 if it knows no limit.
  memoryBytes: Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
};

/** How many files and connections this process may have open (proc(5)). Infinite where the system does not say. */
export function readOpenFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
