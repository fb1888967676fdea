import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RedisConnection } from '../../src/lib/redis/connection.ts';
import { createRedisStore } from '../../src/store/redis.ts';
import { describeStoreContract } from '../contracts/store.ts';
import { connectTo, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';

/** As if a time had passed for every key, because Redis's own clock cannot be moved. */
const SHORTEN_LIFETIMES = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`;

describe.skipIf(!findRedisServer())('with a real redis-server', () => {
  let server: RedisServer;
  let connection: RedisConnection;
  beforeAll(async () => {
    server = await startRedisServer();
    connection = await connectTo(server);
  });
  afterAll(async () => {
    connection?.close();
    await server?.remove();
  });

  const createStore = (onRefused: (key: string) => void = () => undefined) =>
    createRedisStore({ connection, onRefused });

  describeStoreContract('Redis', async () => {
    await server.command('FLUSHALL');
    return {
      store: createStore(),
      advance: async (ms) => void (await server.command('EVAL', SHORTEN_LIFETIMES, '0', String(ms))),
      reopen: () => createStore(),
    };
  });

  test('every key has the prefix and a lifetime', async () => {
    await server.command('FLUSHALL');
    const store = createStore();
    await store.set('channel1:UC', { value: 'value', storedAtMs: 1 }, 7 * 86_400_000);
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys).toEqual(['pennant:channel1:UC']);
    const leftMs = Number(await server.command('PTTL', 'pennant:channel1:UC'));
    expect(Math.round(leftMs / 3_600_000)).toBe(7 * 24);
  });

  test.each([
    ['an empty text', ['SET', '']],
    ['a text', ['SET', 'text']],
    ['no time', ['SET', ' text']],
    ['an endless time', ['SET', '1e308 {}']],
    ['a list', ['RPUSH', 'item']],
    ['a set', ['SADD', 'item']],
  ])(
    '%s under a key is read as a miss, is reported, and can be overwritten',
    async (_what, [command = '', item = '']) => {
      await server.command('DEL', 'pennant:foreign');
      await server.command(command, 'pennant:foreign', item);
      const refused: string[] = [];
      const store = createStore((key) => refused.push(key));
      expect(await store.get('foreign')).toBeUndefined();
      expect(refused).toEqual(['foreign']);
      await store.set('foreign', { value: 'ours', storedAtMs: 1 }, 60_000);
      expect(await store.get('foreign')).toEqual({ value: 'ours', storedAtMs: 1 });
    },
  );

  test('the set of a channel has a lifetime, and loses what has expired', async () => {
    await server.command('FLUSHALL');
    const store = createStore();
    const id = 'UCkept_________________A';
    const set = `pennant:named1:${id}`;
    const add = (name: string) =>
      store.set(`search1:${name}`, { value: `{"channelId":"${id}"}`, storedAtMs: 1 }, 60_000);
    await add('old');
    expect(Number(await server.command('PTTL', set))).toBeGreaterThan(7 * 86_400_000);
    await server.command('ZADD', set, '1', 'pennant:search1:old');
    await add('new');
    expect(await server.command('ZRANGE', set, '0', '-1')).toEqual(['pennant:search1:new']);
  });

  test('an entry with a lifetime below a millisecond is not stored', async () => {
    const store = createStore();
    await store.set('short', { value: 'old', storedAtMs: 1 }, 60_000);
    await store.set('short', { value: 'new', storedAtMs: 2 }, 0.4);
    expect(await store.get('short')).toBeUndefined();
  });
});
