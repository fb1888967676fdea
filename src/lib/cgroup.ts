import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';

/** The limits of this process: the strictest of its cgroups, their parents and the machine. */
export interface ResourceLimits {
  /** Number of cores. A quota may allow a fraction. */
  readonly cpus: number;
  readonly memoryBytes: number;
}

/**
 * Reads cgroup v2 (`cpu.max`, `memory.max`) and v1 (`cpu.cfs_quota_us`, `memory.limit_in_bytes`) limits:
 * docs.kernel.org/admin-guide/cgroup-v2 and /cgroup-v1. Node's own figures miss v1 CPU quotas and limits that are set
 * on a parent group (24.21, seen 2026-11). Tests pass another `root` of the file system.
 */
export function readResourceLimits(root = '/'): ResourceLimits {
  let cpus = availableParallelism();
  let memoryBytes = totalmem();
  for (const directory of cgroupDirectories(root)) {
    cpus = Math.min(cpus, readCpus(directory));
    memoryBytes = Math.min(memoryBytes, readMemoryBytes(directory));
  }
  return { cpus, memoryBytes };
}

/** The limits of this process, read once. */
export const RESOURCE_LIMITS: ResourceLimits = readResourceLimits();

/** The groups of this process, with all their parents. A container may see its own group as the root only. */
function cgroupDirectories(root: string): string[] {
  return (readText(root, 'proc/self/cgroup') ?? '').split('\n').flatMap((line) => {
    const [, controllers = '', ...rest] = line.split(':');
    const names = rest.join(':').split('/').filter(Boolean);
    const parents = [names, ...names.map((_, depth) => names.slice(0, depth))];
    return mountsOf(controllers).flatMap((mount) =>
      parents.map((each) => path.join(root, 'sys/fs/cgroup', mount, ...each)),
    );
  });
}

/** Where a hierarchy is mounted below /sys/fs/cgroup: v2 names no controllers, and sits in `unified` beside v1. */
function mountsOf(controllers: string): string[] {
  if (controllers === '') return ['', 'unified'];
  return controllers.split(',').filter((controller) => controller === 'cpu' || controller === 'memory');
}

function readCpus(directory: string): number {
  const [quota, period] = (
    readText(directory, 'cpu.max') ??
    `${readText(directory, 'cpu.cfs_quota_us')} ${readText(directory, 'cpu.cfs_period_us')}`
  ).split(' ');
  return positive(Number(quota) / Number(period));
}

function readMemoryBytes(directory: string): number {
  return positive(Number(readText(directory, 'memory.max') ?? readText(directory, 'memory.limit_in_bytes')));
}

/** `max`, -1 and a missing file all mean that there is no limit. */
function positive(value: number): number {
  return value > 0 ? value : Number.POSITIVE_INFINITY;
}

function readText(directory: string, name: string): string | undefined {
  try {
    return readFileSync(path.join(directory, name), 'utf8').trim();
  } catch {
    // No such group, controller or system: no limit of this kind.
    return undefined;
  }
}
