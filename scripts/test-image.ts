import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/* Builds the container image with docker or buildah, starts it and checks what its users rely on. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TAG = 'pennant:test';
const BUILD_ARGUMENTS = ['-f', 'deploy/Dockerfile', '-t', TAG, '.'];
const START_MS = 60_000;

const run = promisify(execFile);

/** A program that builds and runs images. */
interface Engine {
  readonly buildCommand: readonly string[];
  /** The arguments that run the image. The engine runs until the service ends, and passes signals on. */
  serve(publicPort: number, privatePort: number): Promise<readonly string[]>;
  /** The arguments that run another command in the image. */
  command(...words: readonly string[]): Promise<readonly string[]>;
}

const DOCKER: Engine = {
  buildCommand: ['build', ...BUILD_ARGUMENTS],
  async serve(publicPort, privatePort) {
    const ports = ['-p', `127.0.0.1:${publicPort}:8080`, '-p', `127.0.0.1:${privatePort}:8081`];
    return ['run', '--rm', '--read-only', ...ports, TAG];
  },
  command: async (program = '', ...words) => ['run', '--rm', '--entrypoint', program, TAG, ...words],
};

/** Buildah has no networks of its own: the service uses ports of this machine. */
const BUILDAH: Engine = {
  buildCommand: ['bud', '--pull=never', '--network', 'host', ...BUILD_ARGUMENTS],
  async serve(publicPort, privatePort) {
    const { stdout } = await run('buildah', ['inspect', '--type', 'image', TAG]);
    const { Cmd } = (JSON.parse(stdout) as { OCIv1: { config: { Cmd: string[] } } }).OCIv1.config;
    const ports = ['--env', `PORT=${publicPort}`, '--env', `CONSOLE_PORT=${privatePort}`];
    return ['run', '--network', 'host', ...ports, await newContainer(), '--', ...Cmd];
  },
  command: async (...words) => ['run', await newContainer(), '--', ...words],
};

/** The containers that buildah has made and does not remove itself. */
const containers: string[] = [];

async function newContainer(): Promise<string> {
  const container = (await run('buildah', ['from', '--pull=never', TAG])).stdout.trim();
  containers.push(container);
  return container;
}

async function findEngine(): Promise<[name: string, engine: Engine]> {
  for (const [name, engine] of Object.entries({ docker: DOCKER, buildah: BUILDAH })) {
    const canRun = await run(name, ['info']).catch(() => undefined);
    if (canRun !== undefined) return [name, engine];
  }
  throw new Error('Neither docker nor buildah can be used.');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + START_MS;
  while (Date.now() < deadlineMs && server.exitCode === null) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${url} is not ready.`);
}

const [name, engine] = await findEngine();
const build = spawn(name, engine.buildCommand, { cwd: ROOT, stdio: 'inherit' });
assert.deepEqual(await once(build, 'exit'), [0, null], 'the build');

const { stdout: user } = await run(name, await engine.command('id', '-u'));
assert.notEqual(user.trim(), '0', 'the image runs as root');
const { stdout: files } = await run(name, await engine.command('find', '/app', '-maxdepth', '1', '-writable'));
assert.equal(files, '', 'the service can change its own files');

const [publicPort, privatePort] = [await freePort(), await freePort()];
const server = spawn(name, await engine.serve(publicPort, privatePort), { stdio: 'inherit' });
try {
  await untilReady(`http://127.0.0.1:${privatePort}/readyz`, server);
  const image = await fetch(`http://127.0.0.1:${publicPort}/@pennantsample/tv.avif?width=320`);
  assert.deepEqual([image.status, image.headers.get('content-type')], [200, 'image/avif']);
  const page = await fetch(`http://127.0.0.1:${privatePort}/playground/`);
  assert.match(await page.text(), /<title>/, 'the playground');
  const record = await fetch(`http://127.0.0.1:${publicPort}/api/channel/pennantsample?type=handle`);
  assert.equal(((await record.json()) as { customUrl: string }).customUrl, '@pennantsample');
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  for (const container of containers) await run('buildah', ['rm', container]);
}
process.stdout.write('The image is built and serves.\n');
