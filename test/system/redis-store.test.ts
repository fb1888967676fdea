import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RedisConnection } from '../../src/lib/redis/connection.ts';
import { createRedisStore, EPOCH_KEY } from '../../src/store/redis.ts';
import { describeStoreContract } from '../contracts/store.ts';
import { inCurrentEpoch } from '../helpers/current-epoch.ts';
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

  const openStore = (onRefused: (key: string) => void = () => undefined) =>
    createRedisStore({ connection, onRefused, onRestored: () => undefined });
  const createStore = (onRefused?: (key: string) => void) => inCurrentEpoch(openStore(onRefused));

  describeStoreContract('Redis', async () => {
    await server.command('FLUSHALL');
    return {
      store: openStore(),
      advance: async (ms) => void (await server.command('EVAL', SHORTEN_LIFETIMES, '0', String(ms))),
      reopen: () => openStore(),
    };
  });

  test('every key has the prefix and a lifetime', async () => {
    await server.command('FLUSHALL');
    const store = createStore();
    await store.set('channel1:UC', { value: 'value', storedAtMs: 1 }, 7 * 86_400_000);
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.toSorted()).toEqual(['pennant:channel1:UC', EPOCH_KEY]);
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

  test('keys of other types do not stop an erasure', async () => {
    const gone = 'UCgone_________________A';
    await server.command('FLUSHALL');
    for (const key of [`channel1:${gone}`, `leads1:${gone}`, 'searches1', 'epoch1']) {
      await server.command('RPUSH', `pennant:${key}`, 'item');
    }
    const store = createStore();
    await store.set('name1:handle:gone', { value: '{}', storedAtMs: 1, leadsTo: gone }, 60_000);
    await store.set('search1:words', { value: '{}', storedAtMs: 1 }, 60_000);
    await server.command('DEL', 'pennant:searches1');
    await server.command('RPUSH', 'pennant:searches1', 'item');
    const erasing = store.erase({ channelIds: [gone], names: [] }, 'purge');
    expect((await erasing).erased).toEqual({ channel: 1, name: 1 });
    // The index of searches was lost, so this one stays until it expires.
    expect(((await server.command('KEYS', '*')) as string[]).toSorted()).toEqual([EPOCH_KEY, 'pennant:search1:words']);
  });

  test('the lists of searches and names have a lifetime, and lose what has expired', async () => {
    await server.command('FLUSHALL');
    const store = createStore();
    const [id, entry] = ['UCkept_________________A', { value: '{}', storedAtMs: 1 }];
    const lists = ['pennant:searches1', `pennant:leads1:${id}`];
    const setBoth = async (name: string, ttlMs: number) => {
      await store.set(`search1:${name}`, entry, ttlMs);
      await store.set(`name1:handle:${name}`, { ...entry, leadsTo: id }, ttlMs);
    };
    await setBoth('long', 120_000);
    await setBoth('short', 60_000);
    for (const list of lists) expect(Number(await server.command('PTTL', list))).toBeGreaterThan(60_000);
    // As if both had expired.
    for (const list of lists) {
      for (const member of (await server.command('ZRANGE', list, '0', '-1')) as string[]) {
        await server.command('ZADD', list, '1', member);
      }
    }
    await setBoth('new', 60_000);
    for (const list of lists) expect(await server.command('ZCARD', list)).toBe(1);
  });

  test('an entry with a lifetime below a millisecond is not stored', async () => {
    const store = createStore();
    await store.set('short', { value: 'old', storedAtMs: 1 }, 60_000);
    await store.set('short', { value: 'new', storedAtMs: 2 }, 0.4);
    expect(await store.get('short')).toBeUndefined();
  });
});
