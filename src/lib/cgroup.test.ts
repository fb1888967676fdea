import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { readResourceLimits } from './cgroup.ts';

const MIB = 1024 * 1024;

let root: string;
beforeEach(async () => {
  root = await createTemporaryDirectory();
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.join(root, path.dirname(name)), { recursive: true });
    await writeFile(path.join(root, name), `${text}\n`);
  }
}

describe('the limits of the cgroup', () => {
  it('are the machine’s if there are no cgroups', () => {
    expect(readResourceLimits(root)).toEqual({ cpus: availableParallelism(), memoryBytes: totalmem() });
  });

  it('are read from version 2', async () => {
    await write({
      'proc/self/cgroup': '0::/app',
      'sys/fs/cgroup/app/cpu.max': '50000 100000',
      'sys/fs/cgroup/app/memory.max': String(512 * MIB),
    });
    expect(readResourceLimits(root)).toEqual({ cpus: 0.5, memoryBytes: 512 * MIB });
  });

  it('are read from version 1', async () => {
    await write({
      'proc/self/cgroup': '4:memory:/app\n2:cpu,cpuacct:/app',
      'sys/fs/cgroup/cpu/app/cpu.cfs_quota_us': '75000',
      'sys/fs/cgroup/cpu/app/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/memory/app/memory.limit_in_bytes': String(256 * MIB),
    });
    expect(readResourceLimits(root)).toEqual({ cpus: 0.75, memoryBytes: 256 * MIB });
  });

  it('are the strictest of a group and all its parents', async () => {
    await write({
      'proc/self/cgroup': '0::/slice/app',
      'sys/fs/cgroup/slice/cpu.max': '50000 100000',
      'sys/fs/cgroup/slice/memory.max': String(900 * MIB),
      'sys/fs/cgroup/slice/app/cpu.max': 'max 100000',
      'sys/fs/cgroup/slice/app/memory.max': String(300 * MIB),
    });
    expect(readResourceLimits(root)).toEqual({ cpus: 0.5, memoryBytes: 300 * MIB });
  });

  it('are read at the root if a container cannot see its own path', async () => {
    await write({
      'proc/self/cgroup': '4:memory:/docker/0123',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': String(128 * MIB),
    });
    expect(readResourceLimits(root).memoryBytes).toBe(128 * MIB);
  });

  it('are the machine’s if a group sets none', async () => {
    await write({
      'proc/self/cgroup': '0::/app\n4:memory:/app\n2:cpu:/app',
      'sys/fs/cgroup/app/cpu.max': 'max 100000',
      'sys/fs/cgroup/app/memory.max': 'max',
      'sys/fs/cgroup/cpu/app/cpu.cfs_quota_us': '-1',
      'sys/fs/cgroup/cpu/app/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/memory/app/memory.limit_in_bytes': '9223372036854771712',
    });
    expect(readResourceLimits(root)).toEqual({ cpus: availableParallelism(), memoryBytes: totalmem() });
  });
});
