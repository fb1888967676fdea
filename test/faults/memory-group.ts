import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A control group that limits the memory of the processes in it. */
export interface MemoryGroup {
  /** Put before a command, makes it run inside. */
  readonly enter: readonly string[];
  /** The most that its processes have held at once, bytes; file pages count too. */
  mostBytes(): number;
  /** Whether it is gone; a group that has processes stays. */
  remove(): boolean;
}

/** cgroup v2 and v1: where groups are, the limit's file, the peak's. */
const KINDS = [
  { root: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
];

/** `undefined` where no group can be made. */
export function makeMemoryGroup(limitBytes: number): MemoryGroup | undefined {
  for (const { root, limit, peak } of KINDS) {
    const path = `${root}/pennant-faults-${process.pid}`;
    const remove = () => isRemoved(path);
    try {
      mkdirSync(path);
      // The kernel puts the files there. Below a v1 hierarchy's root any file could be written, and would limit nothing.
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
