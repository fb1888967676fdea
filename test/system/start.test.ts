import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type CommandOptions, childrenOf, startServiceForTest } from '../helpers/process.ts';
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

test.skipIf(!existsSync('/proc/self'))('the service starts even if no data directory can be created', async () => {
  const directory = await createTemporaryDirectory();
  // This file system refuses directories with ENOENT, and Node's recursive mkdir never returns.
  const env = { DATA_DIR: '/proc/pennant/data', SOURCES: 'catalog,youtube', YOUTUBE_ORIGIN: 'http://127.0.0.1:9' };
  const { base, output } = await start({ directory, env });
  expect((await fetch(base)).status).toBe(200);
  await expect.poll(output).toContain('/proc/pennant/data/cache.db');
});
