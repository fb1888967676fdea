import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';
import { isInstalled, PATH_WITH_SERVERS } from './installed.ts';
import { findFreePort, startProcess } from './process.ts';

const CONFIGURATION = fileURLToPath(new URL('../../deploy/nginx.conf', import.meta.url));
export const findNginx = () => isInstalled('nginx', 'deploy/nginx.conf');

export type Front = Awaited<ReturnType<typeof startFront>>;

/**
 * A real nginx on loopback with deploy/nginx.conf, in which only addresses and paths are replaced.
 *
 * @param instancePorts of this machine, of the instances in the file's order
 */
export async function startFront(instancePorts: readonly number[]) {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-front-'));
  // When root starts nginx, its workers run as another user.
  await chmod(directory, 0o755);
  const port = await findFreePort();
  const deployed = await readFile(CONFIGURATION, 'utf8');
  const replaced = replaceEach(deployed, [
    ['/run/nginx.pid', join(directory, 'nginx.pid')],
    // At this level, nginx logs when it listens.
    ['/var/log/nginx/error.log warn', 'stderr notice'],
    // With several workers, one may not see a copy yet that another has just written.
    ['worker_processes auto', 'worker_processes 1'],
    ['/var/log/nginx/access.log pennant buffer=64k flush=5s', `${join(directory, 'access.log')} pennant`],
    ['/var/cache/nginx/images', join(directory, 'images')],
    ...instancePorts.map((instance, at) => [`pennant-${at + 1}:8080`, `127.0.0.1:${instance}`] as const),
    ['listen 80 default_server', `listen 127.0.0.1:${port} default_server backlog=4096`],
    ['    listen [::]:80 default_server;\n', ''],
  ]);
  await writeFile(join(directory, 'nginx.conf'), replaced);

  const stop = await runNginx(join(directory, 'nginx.conf'));
  return {
    port,
    base: `http://127.0.0.1:${port}`,
    /** The lines of its log, oldest first. */
    log: async () => (await readFile(join(directory, 'access.log'), 'utf8')).trimEnd().split('\n'),
    /** The directory of its image cache. */
    cacheDirectory: join(directory, 'images'),
    async stop() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Where a file of nginx's cache says until when it is valid, in seconds since 1970: nginx 1.22, ngx_http_cache.h. */
const VALID_UNTIL_AT = 8;
const EXPIRED_SECONDS = 1;

/** Makes every copy expire, because nginx's clock cannot be moved. */
export async function expireCopies(cacheDirectory: string): Promise<void> {
  const entries = await readdir(cacheDirectory, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
    const content = await readFile(join(parentPath, name));
    content.writeBigInt64LE(BigInt(EXPIRED_SECONDS), VALID_UNTIL_AT);
    await writeFile(join(parentPath, name), content);
  }
}

type Edit = readonly [from: string, to: string];

/** Starts nginx with a configuration that logs errors to `stderr notice`, and waits until it listens. @returns ends it */
async function runNginx(configFile: string): Promise<() => Promise<void>> {
  const args = ['-c', configFile, '-e', 'stderr', '-g', 'daemon off;'];
  const nginx = startProcess('nginx', args, { env: { PATH: PATH_WITH_SERVERS } });
  await nginx.printed(/start worker process/);
  return async () => {
    nginx.child.kill('SIGTERM');
    await nginx.ended;
  };
}

/**
 * Runs nginx with this in its section `http`, until the test ends.
 *
 * @param directory when root starts nginx, its workers run as another user, who may then read the directory
 */
export async function useNginx(http: string, directory: string): Promise<void> {
  await chmod(directory, 0o755);
  const file = join(directory, 'nginx.conf');
  const main = `pid ${join(directory, 'nginx.pid')};\nerror_log stderr notice;\nevents {}\n`;
  await writeFile(file, `${main}http {\naccess_log off;\n${http}\n}\n`);
  onTestFinished(await runNginx(file));
}

/** Fails if an edit no longer matches the file. */
export function replaceEach(text: string, edits: readonly Edit[]): string {
  return edits.reduce((edited, [from, to]) => {
    if (!edited.includes(from)) throw new Error(`The configuration of nginx does not hold "${from}"`);
    return edited.replace(from, () => to);
  }, text);
}

/**
 * Three small servers in place of instances of the service, for all tests of the file.
 *
 * @param handler for each test, unless the test sets another
 */
export function useFakeInstances(handler: RequestListener = (_request, response) => response.end()) {
  const instances = {
    /** In the order of deploy/nginx.conf. Set when the tests begin. */
    servers: [] as readonly FakeUpstream[],
    /** The requests of the current test, oldest first. */
    received: [] as { readonly instance: number; readonly request: IncomingMessage }[],
    /** How all of them respond. A test may replace it. */
    handler,
  };
  const start = (instance: number) =>
    startFakeUpstream((request, response) => {
      instances.received.push({ instance, request });
      instances.handler(request, response);
    });
  beforeAll(async () => {
    instances.servers = await Promise.all([start(0), start(1), start(2)]);
  });
  beforeEach(() => {
    instances.received.length = 0;
    instances.handler = handler;
  });
  afterAll(() => Promise.all(instances.servers.map(({ close }) => close())));
  return instances;
}

/** An nginx for all tests of the file. Its properties are set when the tests begin. */
export function useFront(instances: ReturnType<typeof useFakeInstances>): Front {
  const front = {} as Front;
  beforeAll(async () => {
    const ports = instances.servers.map(({ origin }) => Number(new URL(origin).port));
    Object.assign(front, await startFront(ports));
  });
  afterAll(() => front.stop?.());
  return front;
}
