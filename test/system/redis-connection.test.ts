import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  createRedisConnection,
  type RedisConnection,
  type RedisTimings,
  RedisUnavailable,
  RedisWrongType,
} from '../../src/lib/redis/connection.ts';
import { parseRedisUrl } from '../../src/lib/redis/redis-url.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { startSlowProxy } from '../helpers/slow-proxy.ts';

interface Subject {
  readonly connection: RedisConnection;
  /** Every change of state, in order. */
  readonly changes: (string | null)[];
  write(): Promise<unknown>;
}

async function connect(url: string, timings: Partial<RedisTimings> = {}): Promise<Subject> {
  const changes: (string | null)[] = [];
  const connection = await createRedisConnection({
    address: parseRedisUrl(url),
    onStateChange: (problem) => changes.push(problem),
    timings: { restMs: 100, steadyMs: 100, ...timings },
  });
  onTestFinished(() => connection.close());
  return {
    connection,
    changes,
    write: () => connection.run((redis) => redis.set('key', 'value', { PX: 60_000 })),
  };
}

async function failureOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

/** Something that takes connections and never answers. */
async function startMute(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return server;
}

describe.skipIf(!findRedisServer())('with a real redis-server', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.remove());

  test('stays in use when a key holds another type, in a command and in a script', async () => {
    const { connection, changes, write } = await connect(server.url);
    await connection.run((redis) => redis.rPush('list', 'item'));
    const read = connection.run((redis) => redis.get('list'));
    await expect(read).rejects.toBeInstanceOf(RedisWrongType);
    const script = connection.run((redis) => redis.eval("return redis.call('GET', 'list')"));
    await expect(script).rejects.toBeInstanceOf(RedisWrongType);
    await write();
    expect([connection.stats(), changes]).toMatchObject([{ isUsable: true, timeouts: 0, outages: 0 }, []]);
  });

  test('so many commands may wait for an answer; further ones fail at once, and the server stays in use', async () => {
    const { connection, changes, write } = await connect(server.url, { commandTimeoutMs: 60_000 });
    await server.freeze();
    const waiting = Array.from({ length: 10_000 }, write);
    expect(connection.stats().commands).toEqual({ entries: 10_000, maxEntries: 10_000 });
    await expect(write()).rejects.toBeInstanceOf(RedisUnavailable);
    await server.thaw();
    await Promise.all(waiting);
    expect(connection.stats()).toMatchObject({ isUsable: true, outages: 0, commands: { entries: 0 } });
    expect(changes).toEqual([]);
  });

  test('a server that works is used from the start, without a word about it', async () => {
    const { connection, changes, write } = await connect(server.url);
    await write();
    expect(connection.stats()).toMatchObject({ isUsable: true, timeouts: 0, outages: 0 });
    expect(changes).toEqual([]);
  });

  test('a socket works like a port', async () => {
    const { write } = await connect(`unix://${server.socketPath}?db=1`);
    await write();
    expect(await server.command('DBSIZE')).toBe(0);
    expect(await server.command('INFO', 'keyspace')).toContain('db1:keys=');
  });

  test('a frozen server is given up after three time-outs, costs nothing then, and is used again once it answers', async () => {
    const { connection, changes, write } = await connect(server.url);
    server.freeze();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await failureOf(write())).toBeInstanceOf(RedisUnavailable);
    }
    expect(connection.stats()).toMatchObject({ isUsable: false, timeouts: 3, outages: 1 });
    for (let attempt = 0; attempt < 1_000; attempt += 1) await failureOf(write());
    // None of these was sent and waited for.
    expect(connection.stats().timeouts).toBe(3);
    server.thaw();
    await expect.poll(() => connection.stats().isUsable).toBe(true);
    await write();
    await expect.poll(() => changes).toContain(null);
    expect(changes[0]).toBe('no answer within 40 ms');
    expect(changes.filter((change) => change === null)).toHaveLength(1);
  });

  test('a slow network is no outage as long as answers come in time', async () => {
    const proxy = await startSlowProxy(server.port);
    onTestFinished(() => proxy.close());
    const { connection, changes, write } = await connect(`redis://127.0.0.1:${proxy.port}`);
    proxy.setDelayMs(15);
    await Promise.all(Array.from({ length: 50 }, write));
    expect(connection.stats()).toMatchObject({ isUsable: true, timeouts: 0, outages: 0 });
    proxy.setDelayMs(150);
    await Promise.all(Array.from({ length: 50 }, () => failureOf(write())));
    await expect.poll(() => changes).toEqual(['no answer within 40 ms']);
    expect(connection.stats().isUsable).toBe(false);
  });

  test('one slow answer is no outage', async () => {
    const { connection, changes, write } = await connect(server.url);
    server.freeze();
    await failureOf(write());
    server.thaw();
    await write();
    expect(connection.stats()).toMatchObject({ isUsable: true, timeouts: 1, outages: 0 });
    expect(changes).toEqual([]);
  });

  test('commands under way fail with the connection, and a server that comes back is used', async () => {
    const { connection, changes, write } = await connect(server.url);
    await server.stop();
    expect(await failureOf(write())).toBeInstanceOf(RedisUnavailable);
    await expect.poll(() => changes.at(-1)).toContain('ECONNREFUSED');
    await server.start();
    await expect.poll(() => connection.stats().isUsable).toBe(true);
    await write();
    await expect.poll(() => changes.at(-1)).toBeNull();
  });

  test.each([
    ['full', ['--maxmemory', '1kb'], 'OOM'],
    ['locked', ['--requirepass', 'other'], 'NOAUTH'],
    ['a replica that may only be read', ['--replicaof', '127.0.0.1', '1'], 'READONLY'],
  ])('a server that is %s is not used, until it is another', async (_state, settings, reason) => {
    const { connection, changes, write } = await connect(server.url);
    await server.stop();
    await server.start(settings);
    await expect.poll(() => changes.at(-1)).toContain(reason);
    expect(await failureOf(write())).toBeInstanceOf(RedisUnavailable);
    await server.stop();
    await server.start();
    await expect.poll(() => connection.stats().isUsable).toBe(true);
  });

  test('a server that refuses a write while it is used is given up at once', async () => {
    const { connection, changes, write } = await connect(server.url);
    await server.command('CONFIG', 'SET', 'maxmemory', '1kb');
    const error = await failureOf(write());
    expect((error as Error).cause).toMatchObject({ message: expect.stringContaining('OOM') });
    expect(connection.stats().isUsable).toBe(false);
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    await expect.poll(() => connection.stats().isUsable).toBe(true);
    await expect.poll(() => changes.at(-1)).toBeNull();
  });

  test('a password is used, and a wrong one never shown', async () => {
    await server.stop();
    await server.start(['--requirepass', 'topsecret']);
    const right = await connect(`redis://:topsecret@127.0.0.1:${server.port}`);
    await right.write();
    const wrong = await connect(`redis://:notthesecret@127.0.0.1:${server.port}`);
    expect(wrong.changes).toEqual([expect.stringContaining('WRONGPASS')]);
    const failure = await failureOf(wrong.write());
    expect(JSON.stringify([wrong.changes, String(failure)])).not.toContain('notthesecret');
  });

  test('a server that comes and goes is reported once', async () => {
    const { connection, changes } = await connect(server.url, { steadyMs: 1_000 });
    await expect.poll(() => connection.stats().isUsable).toBe(true);
    for (let round = 0; round < 3; round += 1) {
      await server.command('CLIENT', 'KILL', 'TYPE', 'normal').catch(() => undefined);
      await expect.poll(() => connection.stats().outages).toBe(round + 1);
      await expect.poll(() => connection.stats().isUsable, { interval: 5 }).toBe(true);
    }
    await expect.poll(() => changes.at(-1)).toBeNull();
    expect(changes.filter((change) => change === null)).toHaveLength(1);
  });
});

describe('without a redis-server', () => {
  test('nothing waits for a port that nobody listens on', async () => {
    const { connection, changes, write } = await connect('redis://127.0.0.1:1');
    expect(changes).toEqual(['connect ECONNREFUSED 127.0.0.1:1']);
    expect(await failureOf(write())).toBeInstanceOf(RedisUnavailable);
    expect(connection.stats().timeouts).toBe(0);
  });

  test('a server that never greets is waited for half a second, at the start only', async () => {
    const { port } = (await startMute()).address() as { port: number };
    const { connection, changes, write } = await connect(`redis://127.0.0.1:${port}`);
    expect(changes).toEqual(['no answer within 500 ms']);
    expect(await failureOf(write())).toBeInstanceOf(RedisUnavailable);
    expect(connection.stats().timeouts).toBe(0);
  });
});
