import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { expect } from 'vitest';
import { createRedisConnection, type RedisConnection } from '../../src/lib/redis/connection.ts';
import type { TestApp } from './app.ts';
import { createManualClock } from './clock.ts';
import { isInstalled } from './installed.ts';
import { findFreePort, type StartedProcess, startProcess } from './process.ts';
import { HANG_MS } from './wait.ts';

export const findRedisServer = () => isInstalled('redis-server', 'Redis');

/** A connection whose commands never time out. */
export function connectTo(server: { readonly url: string }): Promise<RedisConnection> {
  return createRedisConnection({
    url: server.url,
    onStateChange: () => undefined,
    clock: createManualClock(),
    connectTimeoutMs: HANG_MS,
  });
}

export type RedisServer = Awaited<ReturnType<typeof startRedisServer>>;

/**
 * A real server of its own on loopback, with nothing on disk.
 *
 * @param settings as on redis-server's command line: `--maxmemory 2mb`
 */
export async function startRedisServer(settings: readonly string[] = []) {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-redis-'));
  const socketPath = join(directory, 'redis.sock');
  const port = await findFreePort();
  let running: StartedProcess | undefined;

  /** Starts it again on the same port, optionally with other settings. */
  async function start(given: readonly string[] = settings): Promise<void> {
    const own = ['--bind', '127.0.0.1', '--port', `${port}`, '--unixsocket', socketPath, '--dir', directory];
    running = startProcess('redis-server', [...own, '--save', '', '--appendonly', 'no', ...given]);
    await running.printed(/eady to accept connections/);
  }

  /** Ends the server. Its data is lost. */
  async function stop(): Promise<void> {
    running?.child.kill('SIGKILL');
    await running?.ended;
  }

  /** Runs any command on a separate connection, like redis-cli. */
  async function command(...args: string[]): Promise<unknown> {
    const client = createClient({ socket: { path: socketPath, reconnectStrategy: false } });
    await client.connect();
    try {
      return await client.sendCommand(args);
    } finally {
      client.destroy();
    }
  }

  // A test process that ends early must not leave the server behind.
  const killWithProcess = () => void running?.child.kill('SIGKILL');
  process.once('exit', killWithProcess);
  await start();
  return {
    port,
    socketPath,
    /** Over TCP. */
    url: `redis://127.0.0.1:${port}`,
    command,
    /** Suspends the server: it keeps its connections and sends nothing. */
    freeze: () => void running?.child.kill('SIGSTOP'),
    thaw: () => void running?.child.kill('SIGCONT'),
    stop,
    start,
    /** Stops it for good and removes its directory. */
    async remove() {
      await stop();
      process.off('exit', killWithProcess);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The time-outs of commands and of the first one of a connection. */
const TIMEOUTS_MS = new Set([40, 250, 500, 750]);
const REST_MS = 1_000;

/** A clock that gives commands unlimited time, or none. */
export function createRedisClock() {
  const clock = createManualClock();
  const waiting = new Set<() => void>();
  let isRedisLate = false;
  let rounds = 0;

  return {
    ...clock,
    after(ms: number, callback: () => void) {
      if (!TIMEOUTS_MS.has(ms)) return clock.after(ms, callback);
      const run = () => {
        if (waiting.delete(run)) callback();
      };
      if (waiting.size === 0) rounds += 1;
      waiting.add(run);
      if (isRedisLate) setImmediate(run);
      return () => void waiting.delete(run);
    },
    /** From now on, commands time out as soon as this process has read all received replies. */
    letCommandsTimeOut() {
      isRedisLate = true;
      for (const run of waiting) setImmediate(run);
    },
    giveCommandsTime() {
      isRedisLate = false;
    },
    /** How often the service waited for Redis. Commands that are sent together count once. */
    rounds: () => rounds,
  };
}

/** Moves the clock beyond the pause after each failed attempt, until Redis is used again. */
export async function reconnect(instance: TestApp): Promise<void> {
  await expect
    .poll(() => {
      instance.clock.advance(REST_MS);
      return instance.metric('pennant_redis_usable');
    })
    .toBe(1);
}
