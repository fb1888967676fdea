import { once } from 'node:events';
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { findFreePort, runCommand, startService, startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const NOBODY = 65_534;

let directory: string;
let dataDir: string;
beforeEach(async () => {
  directory = await createTemporaryDirectory();
  dataDir = join(directory, 'data');
});

async function check(env: Record<string, string> = {}, uid?: number) {
  const ports = { PORT: String(await findFreePort()), CONSOLE_PORT: String(await findFreePort()), HOST: '127.0.0.1' };
  return runCommand(['serve', '--check'], {
    directory,
    env: { ...ports, DATA_DIR: dataDir, ...env },
    ...(uid !== undefined && { uid }),
  });
}

/** Starts a service that is expected to refuse. */
function start(env: Record<string, string> = {}, uid?: number) {
  return runCommand(['serve'], {
    directory,
    env: { DATA_DIR: dataDir, PORT: '0', CONSOLE_PORT: '0', HOST: '127.0.0.1', ...env },
    ...(uid !== undefined && { uid }),
  });
}

/** A data directory that a service has used. */
async function fillDataDir(): Promise<void> {
  const service = await startService({ directory });
  await fetch(`${service.base}/channel/UCPennantSample00000001A`);
  service.child.kill('SIGTERM');
  expect(await service.ended).toBe(0);
}

describe('serve --check', () => {
  test('reports that a first start would work, and creates nothing', async () => {
    const ended = await check();
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout.split('\n')).toEqual([
      `ok       .env: there is no ${join(directory, '.env')}`,
      `ok       DATA_DIR ${dataDir} will be created`,
      expect.stringMatching(/^ok {7}CATALOG \S+samples has 8 channels$/),
      expect.stringMatching(/^ok {7}PORT: \d+ on 127\.0\.0\.1 is free$/),
      expect.stringMatching(/^ok {7}CONSOLE_PORT: \d+ on 127\.0\.0\.1 is free$/),
      'The service can start.',
      '',
    ]);
    expect(await readdir(directory)).toEqual([]);
  });

  test('checks the files of an earlier start without changing them', async () => {
    await fillDataDir();
    const before = (await readdir(dataDir, { recursive: true })).sort();
    const ended = await check();
    expect(ended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ended.stdout).toContain(`ok       DATA_DIR ${dataDir} is writable\n`);
    expect((await readdir(dataDir, { recursive: true })).sort()).toEqual(before);
  });

  test('reports a running service of this DATA_DIR instead of its ports, and so does a second start', async () => {
    const service = await startServiceForTest({ directory, env: { PORT: String(await findFreePort()) } });
    const ports = { PORT: String(service.port), CONSOLE_PORT: new URL(service.inside).port };
    const ended = await check(ports);
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.stdout).toMatch(/^warning {2}A running service uses this DATA_DIR/m);
    expect(ended.stdout).not.toContain('PORT: ');
    const second = await startServiceForTest({ directory });
    expect(second.output()).toContain('another service uses this DATA_DIR');
    expect(service.output()).not.toContain('another service');
    for (const { child, ended } of [service, second]) {
      child.kill('SIGKILL');
      await ended;
    }
    expect((await check(ports)).stdout).toContain(`ok       PORT: ${service.port} on 127.0.0.1 is free\n`);
  });

  test('fails when another process uses a port, even a service with another DATA_DIR', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const service = await startServiceForTest({ directory, env: { DATA_DIR: join(directory, 'elsewhere') } });
    const consolePort = new URL(service.inside).port;
    const ended = await check({ PORT: String(port), CONSOLE_PORT: consolePort });
    expect(ended).toMatchObject({ exitCode: 1 });
    expect(ended.stdout).toContain(`error    PORT: ${port} on 127.0.0.1 is used by another process. `);
    expect(ended.stdout).toContain(`error    CONSOLE_PORT: ${consolePort} on 127.0.0.1 is used by another process. `);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'reports a DATA_DIR that only another user may open, and all other mistakes',
    async () => {
      await chmod(directory, 0o755);
      await mkdir(dataDir, { mode: 0o700 });
      const { exitCode, stdout, stderr } = await check({ HOST: '192.0.2.1' }, NOBODY);
      expect([exitCode, stderr]).toEqual([1, '']);
      expect(stdout.split('\n').filter((line) => line.startsWith('error'))).toEqual([
        expect.stringMatching(/DATA_DIR \S+ is not writable: EACCES/),
        expect.stringMatching(/HOST: 192\.0\.2\.1 is not an address of this machine$/),
      ]);
    },
  );

  test('warns about a Redis that does not respond, without its password', async () => {
    const ended = await check({ REDIS_URL: 'redis://:the-password@127.0.0.1:1' });
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.stdout).toMatch(/^warning {2}Redis is not usable: connect ECONNREFUSED/m);
    expect(ended.stdout + ended.stderr).not.toContain('the-password');
  });
});

describe('a start says what the check says', () => {
  test.each([
    ['HOST', 'nowhere.invalid', 'HOST: "nowhere.invalid" is not an IP address, and no address is known for this name'],
    ['CONSOLE_HOST', '203.0.113.1', 'CONSOLE_HOST: 203.0.113.1 is not an address of this machine'],
  ])('in one line, about %s=%s', async (setting, value, line) => {
    const env = { SOURCES: 'catalog', PORT: '0', [setting]: value };
    const checked = await check(env);
    expect([checked.exitCode, checked.stdout]).toEqual([1, expect.stringContaining(`error    ${line}\n`)]);
    const started = await start({ CONSOLE_PORT: String(await findFreePort()), ...env });
    expect(started).toEqual({ exitCode: 1, stdout: '', stderr: `${line}\n` });
  });

  test('about a mistake in the catalog, with its line', async () => {
    await writeCatalog(dataDir, [catalogLine(1), catalogLine(2, { country: 'nl' })]);
    const checked = await check();
    const started = await start();
    expect(started).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^\S+catalog\/channels\.ndjson, line 2: country: must be .*\n$/),
    });
    expect([checked.exitCode, checked.stdout]).toEqual([1, expect.stringContaining(`error    ${started.stderr}`)]);
    expect(await check({ SOURCES: 'youtube' })).toMatchObject({ exitCode: 0 });
  });
});
