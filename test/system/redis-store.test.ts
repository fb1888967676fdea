import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { checksumOf } from '../../src/cache/keys.ts';
import { createRedisStore } from '../../src/cache/redis-store.ts';
import type { RedisConnection } from '../../src/lib/redis/connection.ts';
import { describeCache } from '../contracts/cache.ts';
import { connectTo, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';

describe.skipIf(!findRedisServer())('with a real redis-server', () => {
  let server: RedisServer;
  let connection: RedisConnection;
  beforeAll(async () => {
    server = await startRedisServer();
    connection = await connectTo(server);
  });
  beforeEach(() => server.command('FLUSHALL'));
  afterAll(async () => {
    connection?.close();
    await server?.remove();
  });

  const createStore = (onRefused: (key: string) => void = () => undefined) =>
    createRedisStore({ connection, onRefused });

  describeCache('Redis', async () => ({ open: () => createStore() }));

  test('every key has the prefix and a lifetime', async () => {
    await createStore().set('channel1:UC', { value: 'value', storedAtMs: 1 }, 7 * 86_400_000);
    expect(await server.command('KEYS', '*')).toEqual(['pennant:channel1:UC']);
    const leftMs = Number(await server.command('PTTL', 'pennant:channel1:UC'));
    expect(Math.round(leftMs / 3_600_000)).toBe(7 * 24);
  });

  test.each<[what: string, change: (stored: string) => string]>([
    ['an empty text', () => ''],
    ['a text without a checksum', (stored) => stored.replace(/^\d+ /, '')],
    ['a text with another value', (stored) => stored.replace('ours', 'theirs')],
    ['a text with another time', (stored) => stored.replace(' 1 ', ' 2 ')],
    ['the text of another key', () => `${checksumOf('other', '1 ours')} 1 ours`],
  ])('%s under a key counts as absent, is reported, and can be overwritten', async (_what, change) => {
    const refused: string[] = [];
    const store = createStore((key) => refused.push(key));
    const entry = { value: 'ours', storedAtMs: 1 };
    await store.set('key', entry, 60_000);
    await server.command('SET', 'pennant:key', change((await server.command('GET', 'pennant:key')) as string));
    expect([await store.get('key'), refused]).toEqual([undefined, ['key']]);
    await store.set('key', entry, 60_000);
    expect(await store.get('key')).toEqual(entry);
  });

  test('the set of a channel has a lifetime, and loses what has expired', async () => {
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
    await store.set('short', { value: 'new', storedAtMs: 2 }, 0.4);
    expect(await store.get('short')).toBeUndefined();
  });
});
