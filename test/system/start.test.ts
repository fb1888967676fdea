import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { childrenOf, type ServiceOptions, startService } from '../helpers/service-process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

async function start(options: ServiceOptions) {
  const service = await startService(options);
  onTestFinished(() => void service.child.kill('SIGKILL'));
  return service;
}

const compiledIn = (dataDir: string) => readdir(join(dataDir, 'compile-cache'), { recursive: true });

test('the compile cache is written before the service listens', async () => {
  const directory = await createTemporaryDirectory();
  const compileCache = join(directory, 'data/compile-cache');
  await mkdir(join(compileCache, 'of-another-installation/files'), { recursive: true });
  const { base } = await start({ directory });
  await expect.poll(() => readdir(compileCache)).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
  const atFirst = (await compiledIn(join(directory, 'data'))).length;
  await fetch(base);
  expect(atFirst).toBeGreaterThan(100);
  expect((await compiledIn(join(directory, 'data'))).length).toBe(atFirst);
});

test('only the user and the group of the service may read its files', async () => {
  const directory = await createTemporaryDirectory();
  const { child, ended } = await start({ directory });
  child.kill('SIGTERM');
  await ended;
  const data = join(directory, 'data');
  const entries = await readdir(data, { recursive: true, withFileTypes: true });
  const paths = [data, ...entries.map(({ parentPath, name }) => join(parentPath, name))];
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) expect([path, (await stat(path)).mode & 0o027]).toEqual([path, 0]);
});

test.each([
  { named: 'by nobody', settings: '', made: ['data'] },
  { named: 'by DATA_DIR in .env', settings: 'DATA_DIR=named\n', made: ['named'] },
  {
    named: 'by NODE_COMPILE_CACHE in .env',
    settings: 'DATA_DIR=named\nNODE_COMPILE_CACHE=compiled\n',
    made: ['compiled', 'named'],
  },
])('the next start uses it from the first file on, in a directory named $named', async ({ settings, made }) => {
  const directory = await createTemporaryDirectory();
  await writeFile(join(directory, '.env'), settings);
  const options = { directory, prefix: ['env', '-u', 'DATA_DIR'], env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' } };
  const usesFirstFile = async () => {
    const { child, ended, output } = await start(options);
    child.kill('SIGTERM');
    await ended;
    return /retrieving transpile cache for StrippedTypeScript \S+src\/main\.ts\.\.\.success/.test(output());
  };
  expect(await usesFirstFile()).toBe(false);
  expect(await usesFirstFile()).toBe(true);
  expect(await readdir(directory)).toEqual(['.env', ...made]);
});

test('an encoder waits for the first picture before anybody asks for one', async () => {
  const { pid } = await start({ directory: await createTemporaryDirectory() });
  await expect.poll(() => childrenOf(pid)).toHaveLength(1);
});

test.skipIf(!existsSync('/proc/self'))('the service starts where no data directory can be made', async () => {
  const directory = await createTemporaryDirectory();
  // A file system that refuses directories with ENOENT: Node's own recursive mkdir never returns from there.
  const env = { DATA_DIR: '/proc/pennant/data', SOURCES: 'catalog,youtube', YOUTUBE_ORIGIN: 'http://127.0.0.1:9' };
  const { base, output } = await start({ directory, env });
  expect((await fetch(base)).status).toBe(200);
  await expect.poll(output).toContain('/proc/pennant/data/catalog.db');
});
