import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CommandOptions, childrenOf, launchService, startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

async function start(options: CommandOptions) {
  return startServiceForTest(options);
}

test('a start without the private listener names neither playground nor console', async () => {
  const { output } = await start({ directory: await createTemporaryDirectory(), env: { CONSOLE_PORT: '0' } });
  const line = JSON.parse(output().trim().split('\n').at(-1) ?? '');
  expect(line).toMatchObject({ msg: expect.stringContaining('listens on'), examples: expect.any(Array) });
  expect(Object.keys(line)).not.toContain('playground');
  expect(Object.keys(line)).not.toContain('console');
});

test('an encoder is ready before the first image is requested', async () => {
  const { pid } = await start({ directory: await createTemporaryDirectory() });
  await expect.poll(() => childrenOf(pid)).toHaveLength(1);
});

test('failed starts leave nothing incomplete behind, and a start removes what killed ones have left', async () => {
  const directory = await createTemporaryDirectory();
  const dataDir = join(directory, 'data');
  const drafts = async () => (await readdir(dataDir)).filter((name) => name.startsWith('catalog.new-'));
  const other = await start({ directory, env: { DATA_DIR: join(directory, 'other') } });
  for (let times = 0; times < 3; times += 1) {
    await rm(dataDir, { recursive: true, force: true });
    const failed = launchService({ directory, env: { PORT: String(other.port) } });
    expect([await failed.ended, failed.stderr()]).toEqual([1, expect.stringContaining('used by another process')]);
    expect(await drafts()).toEqual([]);
  }
  const abandoned = join(dataDir, 'catalog.new-1-killed');
  await mkdir(abandoned);
  await utimes(abandoned, 1, 1);
  await start({ directory });
  expect(await drafts()).toEqual([]);
});

test.skipIf(!existsSync('/proc/self'))('the service starts even if no data directory can be created', async () => {
  const directory = await createTemporaryDirectory();
  // This file system refuses directories with ENOENT, and Node's recursive mkdir never returns.
  const env = { DATA_DIR: '/proc/pennant/data', SOURCES: 'catalog,youtube', YOUTUBE_ORIGIN: 'http://127.0.0.1:9' };
  const { base, output } = await start({ directory, env });
  expect((await fetch(base)).status).toBe(200);
  await expect.poll(output).toContain('/proc/pennant/data/catalog.db');
});
