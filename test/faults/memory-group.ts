import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A control group that limits the memory of its processes. */
export interface MemoryGroup {
  /** A prefix for a command that runs it inside. */
  readonly enter: readonly string[];
  /** The peak memory of its processes in bytes. File pages count too. */
  mostBytes(): number;
  /** Removes the group. @returns whether it is gone. A group with processes stays. */
  remove(): boolean;
}

/** For cgroup v2 and v1: the directory of groups, and the files of the limit and of the peak. */
const KINDS = [
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
];

/** `undefined` if no group can be created. */
export function makeMemoryGroup(limitBytes: number): MemoryGroup | undefined {
  for (const { root, limit, peak } of KINDS) {
    const path = `${root}/pennant-faults-${process.pid}`;
    const remove = () => isRemoved(path);
    try {
      mkdirSync(path);
      // The kernel creates these files. In a plain directory, a written file would limit nothing.
      writeFileSync(join(path, limit), String(limitBytes), { flag: 'r+' });
      return {
        enter: ['sh', '-c', `echo $$ > ${path}/cgroup.procs && exec "$0" "$@"`],
        mostBytes: () => Number(readFileSync(join(path, peak), 'utf8')),
        remove,
      };
    } catch {
      remove();
    }
  }
  return undefined;
}

function isRemoved(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
