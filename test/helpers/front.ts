import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from './service-process.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
/** Debian keeps it out of ordinary users' path. */
const PATH = `${process.env.PATH}:/usr/sbin`;

/**
 * False where there is no nginx; what needs one is then skipped, and says so.
 *
 * @throws Error in CI, where nothing may be skipped in silence.
 */
export function findNginx(): boolean {
  if (spawnSync('nginx', ['-v'], { env: { PATH } }).status === 0) return true;
  if (process.env.CI) throw new Error('nginx is needed here: apt-get install nginx');
  console.log('SKIPPED: no nginx on this machine, so deploy/nginx.conf is not tested.');
  return false;
}

/** A real nginx on loopback with deploy/nginx.conf, in which only addresses and paths are replaced. */
export interface Front {
  readonly port: number;
  readonly base: string;
  /** Where it keeps pictures. */
  readonly cacheDirectory: string;
  /** The access log's lines so far. */
  accessLog(): Promise<string[]>;
  stop(): Promise<void>;
}

export interface FrontOptions {
  /** Ports of this machine, of the instances in the file's order. */
  readonly instancePorts: readonly [number, number, number];
  /** As the file says it should be done where every instance has a BASE_URL. */
  readonly hasBaseUrl?: boolean;
}

export async function startFront({ instancePorts, hasBaseUrl = false }: FrontOptions): Promise<Front> {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-front-'));
  // Workers run as another user than the one who starts nginx as root.
  await chmod(directory, 0o755);
  const port = await findFreePort();
  for (const name of ['nginx-lower-case.conf', 'nginx-problem.conf']) await cp(DEPLOY + name, join(directory, name));
  const deployed = await readFile(`${DEPLOY}nginx.conf`, 'utf8');
  const replaced = replaceEach(deployed, [
    ['/run/nginx.pid', join(directory, 'nginx.pid')],
    ['/var/log/nginx/error.log', 'stderr'],
    ['/var/log/nginx/access.log pennant buffer=64k flush=5s', `${join(directory, 'access.log')} pennant`],
    ['/var/cache/nginx/pictures', join(directory, 'pictures')],
    ...instancePorts.map((instance, at) => [`pennant-${at + 1}:8080`, `127.0.0.1:${instance}`] as const),
    ['listen 80 default_server', `listen 127.0.0.1:${port} default_server backlog=4096`],
    ['    listen [::]:80 default_server;\n', ''],
    ...(hasBaseUrl ? BASE_URL_EDITS : []),
  ]);
  await writeFile(join(directory, 'nginx.conf'), replaced);

  const args = ['-c', join(directory, 'nginx.conf'), '-e', 'stderr', '-g', 'daemon off;'];
  const child = spawn('nginx', args, { env: { PATH }, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await waitUntilListening(port, () => {
    if (child.exitCode !== null) throw new Error(`nginx has ended:\n${output}`);
  });

  return {
    port,
    base: `http://127.0.0.1:${port}`,
    cacheDirectory: join(directory, 'pictures'),
    async accessLog() {
      const text = await readFile(join(directory, 'access.log'), 'utf8');
      return text.split('\n').filter((line) => line !== '');
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const BASE_URL_EDITS = [
  ['  map $pennant_host $host_in_key { default $pennant_host; }\n', ''],
  ['  # map $pennant_host $host_in_key { default ""; }', '  map $pennant_host $host_in_key { default ""; }'],
] as const;

/** An edit that no longer fits the file is a mistake here, not a file that is used as it stands. */
function replaceEach(text: string, edits: ReadonlyArray<readonly [from: string, to: string]>): string {
  return edits.reduce((edited, [from, to]) => {
    if (!edited.includes(from)) throw new Error(`deploy/nginx.conf does not hold "${from}"`);
    return edited.replace(from, () => to);
  }, text);
}

/** Asks nothing: no instance should hear of it. */
async function waitUntilListening(port: number, assertRunning: () => void): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (performance.now() < endMs) {
    assertRunning();
    const socket = connect(port, '127.0.0.1');
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) return;
    await sleep(50);
  }
  throw new Error(`nginx does not listen on port ${port}`);
}
