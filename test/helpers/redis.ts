import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { createRedisConnection, type RedisConnection } from '../../src/lib/redis/connection.ts';
import { parseRedisUrl } from '../../src/lib/redis/redis-url.ts';
import { createManualClock } from './clock.ts';
import { isInstalled } from './installed.ts';
import { type StartedProcess, startProcess } from './process.ts';
import { findFreePort } from './service-process.ts';
import { HANG_MS } from './wait.ts';

export const findRedisServer = () => isInstalled('redis-server', 'Redis');

/** A real server of its own on loopback, with nothing on disk. */
export interface RedisServer {
  readonly port: number;
  readonly socketPath: string;
  /** Over TCP. */
  readonly url: string;
  /** As an operator with redis-cli: any command, with a connection of its own. */
  command(...args: string[]): Promise<unknown>;
  /** Makes every lifetime shorter, as if so much time had passed: Redis's own clock cannot be moved. */
  shortenLifetimes(ms: number): Promise<void>;
  /** It keeps its connections and sends nothing. */
  freeze(): void;
  thaw(): void;
  /** Ends the server, and its data with it. */
  stop(): Promise<void>;
  /** On the same port, with other settings where some are given. */
  start(settings?: readonly string[]): Promise<void>;
  /** Stops it for good and removes its directory. */
  remove(): Promise<void>;
}

/** A connection whose commands never time out. */
export function connectTo(server: Pick<RedisServer, 'url'>): Promise<RedisConnection> {
  return createRedisConnection({
    address: parseRedisUrl(server.url),
    onStateChange: () => undefined,
    clock: createManualClock(),
    timings: { connectTimeoutMs: HANG_MS },
  });
}

const SHORTEN = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`;

/** @param settings as on redis-server's command line: `--maxmemory 2mb` */
export async function startRedisServer(settings: readonly string[] = []): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-redis-'));
  const socketPath = join(directory, 'redis.sock');
  const port = await findFreePort();
  let running: StartedProcess | undefined;

  async function start(given: readonly string[] = settings): Promise<void> {
    const own = ['--bind', '127.0.0.1', '--port', `${port}`, '--unixsocket', socketPath, '--dir', directory];
    running = startProcess('redis-server', [...own, '--save', '', '--appendonly', 'no', ...given]);
    await running.printed(/eady to accept connections/);
  }

  async function stop(): Promise<void> {
    running?.child.kill('SIGKILL');
    await running?.ended;
  }

  async function command(...args: string[]): Promise<unknown> {
    const client = createClient({ socket: { path: socketPath, reconnectStrategy: false } });
    await client.connect();
    try {
      return await client.sendCommand(args);
    } finally {
      client.destroy();
    }
  }

  // A test process that ends in the middle must not leave it behind.
  const killWithProcess = () => void running?.child.kill('SIGKILL');
  process.once('exit', killWithProcess);
  await start();
  return {
    port,
    socketPath,
    url: `redis://127.0.0.1:${port}`,
    command,
    async shortenLifetimes(ms) {
      await command('EVAL', SHORTEN, '0', String(ms));
    },
    freeze: () => void running?.child.kill('SIGSTOP'),
    thaw: () => void running?.child.kill('SIGCONT'),
    stop,
    start,
    async remove() {
      await stop();
      process.off('exit', killWithProcess);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
