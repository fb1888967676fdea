import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { readResourceLimits } from './cgroup.ts';

const MIB = 1024 * 1024;
const [CPUS, MEMORY] = [availableParallelism(), totalmem()];

it.each<[what: string, files: Record<string, string>, cpus: number, memoryBytes: number]>([
  ['without cgroups', {}, CPUS, MEMORY],
  [
    'of version 2, the strictest of a group and all its parents',
    {
      'proc/self/cgroup': '0::/slice/app',
      'sys/fs/cgroup/slice/cpu.max': '50000 100000',
      'sys/fs/cgroup/slice/memory.max': String(900 * MIB),
      'sys/fs/cgroup/slice/app/cpu.max': 'max 100000',
      'sys/fs/cgroup/slice/app/memory.max': String(300 * MIB),
    },
    0.5,
    300 * MIB,
  ],
  [
    'of version 1, at the root if a container cannot see its own path',
    {
      'proc/self/cgroup': '4:memory:/docker/0123\n2:cpu,cpuacct:/app',
      'sys/fs/cgroup/cpu/app/cpu.cfs_quota_us': '75000',
      'sys/fs/cgroup/cpu/app/cpu.cfs_period_us': '100000',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': String(256 * MIB),
    },
    0.75,
    256 * MIB,
  ],
  [
    'of groups that set none',
    {
      'proc/self/cgroup': '0::/app\n4:memory:/app\n2:cpu:/app',
      'sys/fs/cgroup/app/cpu.max': 'max 100000',
      'sys/fs/cgroup/app/memory.max': 'max',
      'sys/fs/cgroup/cpu/app/cpu.cfs_quota_us': '-1',
      'sys/fs/cgroup/memory/app/memory.limit_in_bytes': '9223372036854771712',
    },
    CPUS,
    MEMORY,
  ],
])('the limits %s', async (_what, files, cpus, memoryBytes) => {
  const root = await createTemporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.join(root, path.dirname(name)), { recursive: true });
    await writeFile(path.join(root, name), `${text}\n`);
  }
  expect(readResourceLimits(root)).toEqual({ cpus, memoryBytes });
});
