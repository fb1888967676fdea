import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CommandOptions, childrenOf, startService } from '../helpers/process.ts';
import { copyProject } from '../helpers/project-copy.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

async function start(options: CommandOptions) {
  const service = await startService(options);
  onTestFinished(() => void service.child.kill('SIGKILL'));
  return service;
}

/** The compile caches of the server and its threads. Encoders have a directory of their own, without `complete`. */
async function compiledIn(compileCache: string): Promise<string[]> {
  const all = await readdir(compileCache, { recursive: true });
  const complete = all.find((path) => path.endsWith('/complete'));
  return all.filter((path) => complete !== undefined && path.startsWith(dirname(complete)));
}

test('the compile cache is written before the service listens', async () => {
  const directory = await createTemporaryDirectory();
  const compileCache = join(directory, 'data/compile-cache');
  await mkdir(join(compileCache, 'of-another-installation/files'), { recursive: true });
  const { base } = await start({ directory });
  await expect.poll(() => readdir(compileCache)).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
  const atFirst = (await compiledIn(compileCache)).length;
  await fetch(base);
  expect(atFirst).toBeGreaterThan(100);
  expect((await compiledIn(compileCache)).length).toBe(atFirst);
});

test('neither the first start nor the one after an upgrade strips types, which would cost 45 MiB', async () => {
  const [project, directory] = [await createTemporaryDirectory(), await createTemporaryDirectory()];
  await copyProject(project);
  const startAndReport = async () => {
    const { child, base, ended, output } = await start({
      directory,
      program: [process.execPath, '--max-semi-space-size=16', join(project, 'bin/pennant.cjs')],
      env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE', NODE_OPTIONS: '--max-old-space-size=1000 --no-warnings' },
    });
    expect((await fetch(`${base}/UCPennantSample00000001A/tv.jpg?width=100`)).status).toBe(200);
    child.kill('SIGTERM');
    await ended;
    const filesOf = (line: RegExp) => [...output().matchAll(line)].map(([, file]) => file);
    return {
      read: filesOf(/retrieving transpile cache for StrippedTypeScript file:\/\/(\S+?)\.\.\.success/g),
      stripped: filesOf(/no transpile cache for StrippedTypeScript file:\/\/(\S+)/g),
    };
  };
  const first = await startAndReport();
  expect(first.read.length).toBeGreaterThan(100);
  expect(first.stripped).toEqual([]);
  await appendFile(join(project, 'src/main.ts'), '// changed\n');
  const second = await startAndReport();
  expect(second.read).toContain(join(project, 'src/main.ts'));
  expect(second.stripped).toEqual([]);
});

test('only the user and the group of the service can read its files', async () => {
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
])(
  'the first start creates the compile cache in a directory named $named, and uses it from its first file on',
  async ({ settings, made }) => {
    const directory = await createTemporaryDirectory();
    await writeFile(join(directory, '.env'), settings);
    const options = { directory, prefix: ['env', '-u', 'DATA_DIR'], env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' } };
    const { child, ended, output } = await start(options);
    child.kill('SIGTERM');
    await ended;
    expect(output()).toMatch(/retrieving transpile cache for StrippedTypeScript \S+src\/main\.ts\.\.\.success/);
    expect(await readdir(directory)).toEqual(['.env', ...made]);
  },
);

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
  await expect.poll(output).toContain('/proc/pennant/data/catalog.db');
});
