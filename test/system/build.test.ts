import { spawnSync } from 'node:child_process';
import { appendFile, chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { findFreePort, startProcess } from '../helpers/process.ts';
import { copyProject } from '../helpers/project-copy.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/* `npm start` in a clone, which compiles what has changed and runs dist/. */

/** `nobody` on every Linux. */
const ORDINARY_USER = 65_534;
const isRoot = process.getuid?.() === 0;

let clone: string;
beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'pennant-clone-'));
  await chmod(clone, 0o755);
  await copyProject(clone);
});
afterAll(() => rm(clone, { recursive: true, force: true }));

async function npm(args: readonly string[], uid?: number) {
  const home = await createTemporaryDirectory();
  await chmod(home, 0o777);
  const [port, consolePort] = [await findFreePort(), await findFreePort()];
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    SOURCES: 'catalog',
    HOST: '127.0.0.1',
    DATA_DIR: join(home, 'data'),
    PORT: String(port),
    CONSOLE_PORT: String(consolePort),
  };
  const started = startProcess('npm', args, { cwd: clone, env, ...(uid !== undefined && { uid, gid: uid }) });
  onTestFinished(async () => {
    started.child.kill('SIGTERM');
    await started.closed;
  });
  return { ...started, console: `http://127.0.0.1:${consolePort}` };
}

async function outputs(): Promise<string[]> {
  const entries = await readdir(join(clone, 'dist'), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(files.toSorted().map(async (path) => `${path} ${(await stat(path)).mtimeMs}`));
}

test.runIf(isRoot)('`npm start` needs no write access to a clone that was built', async () => {
  expect(await (await npm(['run', 'build'])).ended).toBe(0);
  const before = await outputs();
  const { printed, output } = await npm(['start'], ORDINARY_USER);
  await printed(/listens on/);
  expect(output()).not.toMatch(/error|EACCES/i);
  expect(await outputs()).toEqual(before);
});

test('`npm start` reports a mistake in the types and starts nothing', async () => {
  const file = join(clone, 'src/config/env-file.ts');
  const text = await readFile(file);
  onTestFinished(() => writeFile(file, text));
  await appendFile(file, "export const count: number = 'one';\n");
  const { ended, output } = await npm(['start']);
  expect(await ended).not.toBe(0);
  expect(output()).toContain('src/config/env-file.ts');
  expect(output()).not.toContain('listens on');
});

test('`npm start` says what to do on an older Node, and without the packages', async () => {
  const disguise = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";
  const program = `${disguise}; import(${JSON.stringify(join(clone, 'scripts/build.js'))})`;
  const buildIn = (cwd: string) => spawnSync(process.execPath, ['-e', program], { cwd, encoding: 'utf8' });
  const old = /^Pennant needs Node 24 or newer; this is Node 20\.20\.2 .*\n.* Install it now: npm rebuild node/;
  expect(buildIn(clone)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(old) });
  const missing = 'The packages are not installed yet. Install them: npm ci\n';
  expect(buildIn(await createTemporaryDirectory())).toMatchObject({ status: 1, stdout: '', stderr: missing });
});
