import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { blockWith } from '../helpers/documents.ts';
import { findNginx, startFront } from '../helpers/front.ts';
import { createHttpSender } from '../helpers/http-request.ts';
import { findFreePort, startProcess } from '../helpers/process.ts';
import { copyProject } from '../helpers/project-copy.ts';
import { findRedisServer, startRedisServer } from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

/*
 * Follows docs/operating.md from the first day to the upgrade, with its own commands and the systemd unit, behind nginx
 * and with Redis. A directory replaces the machine: paths of the document are below it. systemctl, sudo and `npm install`
 * only record their calls. The test does what systemd would do, as the unit describes it.
 */

const run = promisify(execFile);
const DOCUMENT = 'docs/operating.md';
const BLOCKED = 'UCPennantSample00000003A';
const OTHER = 'UCPennantSample00000001A';

interface Machine {
  readonly root: string;
  /** A clone, with the document's `.env`. */
  readonly clone: string;
  /** Runs commands of the document, and returns what they printed. */
  shell(commands: string, cwd: string): Promise<string>;
  /** The calls of systemctl since the last time. */
  orders(): Promise<string[]>;
}

const SEPARATE_PATHS = /(?<![\w.])\/(etc|opt|var\/lib)\//g;

async function createMachine(): Promise<Machine> {
  const root = await createTemporaryDirectory();
  const clone = join(root, 'clone');
  const tools = join(root, 'tools');
  const ordersFile = join(root, 'orders');
  for (const path of [clone, tools, join(root, 'opt'), join(root, 'etc/systemd/system'), join(root, 'var/lib')]) {
    await mkdir(path, { recursive: true });
  }
  await copyProject(clone);
  for (const version of ['0.1.0', '0.2.0']) await install(join(root, `opt/pennant-${version}`));
  await symlink('pennant-0.1.0', join(root, 'opt/pennant'));
  await writeFile(ordersFile, '');
  const scripts = { systemctl: `echo "$*" >> ${ordersFile}`, sudo: 'shift 2; exec "$@"', npm: `[ "$1" = 'install' ]` };
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(tools, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(tools, name), 0o755);
  }
  return {
    root,
    clone,
    async shell(commands, cwd) {
      const text = commands.replaceAll(SEPARATE_PATHS, `${root}/$1/`).replaceAll('-g pennant ', '');
      const PATH = `${tools}:${join(clone, 'node_modules/.bin')}:${process.env.PATH}`;
      const { stdout } = await run('bash', ['-euc', text], { cwd, env: { PATH } });
      return stdout;
    },
    async orders() {
      const orders = (await readFile(ordersFile, 'utf8')).split('\n').filter((line) => line !== '');
      await writeFile(ordersFile, '');
      return orders;
    },
  };
}

/** Installs the files that the unit needs, as `npm install --prefix` does. */
async function install(directory: string): Promise<void> {
  await mkdir(directory);
  await copyProject(directory);
  await symlink('../../dist/pennant.js', join(directory, 'node_modules/.bin/pennant'));
  await chmod(join(directory, 'dist/pennant.js'), 0o755);
}

/** Runs the unit's commands as systemd does, in its working directory and environment. */
async function startUnit({ root }: Machine) {
  const unit = await readFile(join(root, 'etc/systemd/system/pennant.service'), 'utf8');
  const valuesOf = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) =>
      value.replaceAll(SEPARATE_PATHS, `${root}/$1/`),
    );
  const [cwd] = valuesOf('WorkingDirectory');
  const env = Object.fromEntries(valuesOf('Environment').map((line) => line.split(/=(.*)/s, 2) as [string, string]));
  const [program = '', ...args] = valuesOf('ExecStart')[0]?.split(' ') ?? [];
  const { child, ended, output, printed } = startProcess(program, args, { cwd, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  await printed(/listens on/);
  return {
    output,
    async stop() {
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
    },
  };
}

const isPossible = [findNginx(), findRedisServer()].every(Boolean);

test.skipIf(!isPossible)(
  'the first day, a take-down, an upgrade and the way back work as described in docs/operating.md',
  async () => {
    const machine = await createMachine();
    const { root, clone } = machine;
    const redis = await startRedisServer();
    onTestFinished(() => redis.remove());
    const [port, consolePort] = [await findFreePort(), await findFreePort()];

    // 1 and 2: write the settings and check them.
    const further = [
      '',
      `PORT=${port}`,
      `CONSOLE_PORT=${consolePort}`,
      `REDIS_URL=${redis.url}`,
      'SOURCES=catalog',
      '',
    ];
    const settings = blockWith(DOCUMENT, 'BASE_URL=').replaceAll(SEPARATE_PATHS, `${root}/$1/`);
    await writeFile(join(clone, '.env'), settings + further.join('\n'));
    const checked = await machine.shell('node dist/pennant.js serve --check', clone);
    expect(checked).toContain(`ok       .env: ${join(clone, '.env')}\n`);
    expect(checked).toContain('ok       Redis responds\n');
    expect(checked).not.toMatch(/^warning/m);

    // 3: as a systemd service.
    await machine.shell(blockWith(DOCUMENT, 'install -m 640'), clone);
    expect(await machine.orders()).toEqual(['daemon-reload', 'enable --now pennant']);
    let service = await startUnit(machine);

    // 4: it is ready, and serves visitors under its own name, each with a rate limit of their own.
    const inside = `http://127.0.0.1:${consolePort}`;
    expect(await (await fetch(`${inside}/readyz`)).json()).toMatchObject({ ready: true, conditions: [] });
    const front = await startFront([port, port, port]);
    onTestFinished(() => front.stop());
    const ask = (url: string, visitor = '127.0.0.1') =>
      createHttpSender(front.port, visitor).send({ url, headers: { connection: 'close' } });
    const record = await ask('/api/channel/pennantsample?type=handle');
    expect(JSON.parse(record.bytes.toString())).toMatchObject({
      bannerUrl: expect.stringMatching(/^https:\/\/img\.example\.org\//),
    });
    expect(record.headers.ratelimit).toContain('r=9');
    expect((await ask('/api/channel/pennantsample?type=handle', '127.0.0.2')).headers.ratelimit).toContain('r=9');
    expect(await (await fetch(`${inside}/metrics`)).text()).toContain('pennant_redis_usable 1');
    for (const id of [BLOCKED, OTHER]) expect((await ask(`/${id}/avatar?width=64`)).status).toBe(200);

    // Take-down: the settings file, a restart, and the copies in nginx.
    const { shell } = machine;
    await appendFile(join(root, 'etc/pennant/.env'), `BLOCKED_CHANNELS=${BLOCKED}\n`);
    await service.stop();
    service = await startUnit(machine);
    expect((await ask(`/${BLOCKED}/avatar?width=64`)).headers['cache-status']).toMatch(/nginx; hit$/);
    await shell(blockWith(DOCUMENT, 'filename="UC').replaceAll('/var/cache/nginx/images', front.cacheDirectory), root);
    for (const url of [`/${BLOCKED}/avatar?width=64`, `/api/channel/${BLOCKED}`])
      expect((await ask(url)).status).toBe(451);
    expect((await ask(`/${OTHER}/avatar?width=64`)).headers['cache-status']).toMatch(/nginx; hit$/);

    // Upgrade: the new version is checked beside the running one, then the link is changed.
    const beside = await shell(blockWith(DOCUMENT, 'npm install --prefix'), root);
    expect(beside).toMatch(/^warning {2}A running service uses this DATA_DIR/m);
    expect(beside).toContain('The service can start.\n');
    expect(await machine.orders()).toEqual(['restart pennant']);
    expect((await ask(`/${OTHER}/avatar?width=65`, '127.0.0.3')).status).toBe(200);
    await service.stop();
    service = await startUnit(machine);
    expect((await ask(`/${BLOCKED}`, '127.0.0.3')).status).toBe(451);
    expect((await ask(`/${OTHER}/avatar?width=65&again`, '127.0.0.3')).status).toBe(200);
    await service.stop();

    // The way back. The tables of the cache are the same, so nothing is logged about it.
    await shell(blockWith(DOCUMENT, 'ln -sfn pennant-0.1.0'), root);
    expect(await machine.orders()).toEqual(['restart pennant']);
    service = await startUnit(machine);
    expect((await ask(`/${OTHER}/avatar?width=65&back`, '127.0.0.3')).status).toBe(200);
    await service.stop();
    expect(service.output()).not.toMatch(/"level":(?:40|50)/);
  },
);
