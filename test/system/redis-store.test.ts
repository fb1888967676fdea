import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createSharedImages,
  type SharedImages,
  type SharedImagesOptions,
} from '../../src/image-store/shared-images.ts';
import type { RedisConnection } from '../../src/lib/redis/connection.ts';
import { changeOfChannels, createChanges } from '../../src/store/changes.ts';
import { createRedisStore, type RedisStoreOptions } from '../../src/store/redis.ts';
import { START } from '../../src/store/shared-changes.ts';
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

  const NO_CHANGES = { changes: createChanges(), sharedChanges: { position: () => START } };
  function createStore(more: Partial<RedisStoreOptions> = {}) {
    return createRedisStore({ connection, ...NO_CHANGES, ...more });
  }
  function createImages(more: Partial<SharedImagesOptions> = {}) {
    return createSharedImages({ connection, ...NO_CHANGES, maxImageBytes: 1_000, ...more });
  }

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
    await createImages({ maxImageBytes: 10 }).set('image1/x', Buffer.from('bytes'));
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.sort()).toEqual(['pennant:bytes2:image1/x', 'pennant:channel1:UC']);
    const leftHours = async (key: string) => Math.round(Number(await server.command('PTTL', key)) / 3_600_000);
    expect(await leftHours('pennant:channel1:UC')).toBe(7 * 24);
    expect(await leftHours('pennant:bytes2:image1/x')).toBe(24);
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
      const store = createStore({ onRefused: (key) => refused.push(key) });
      expect(await store.get('foreign')).toBeUndefined();
      expect(refused).toEqual(['foreign']);
      await store.set('foreign', { value: 'ours', storedAtMs: 1 }, 60_000);
      expect(await store.get('foreign')).toEqual({ value: 'ours', storedAtMs: 1 });
    },
  );

  test('keys of other types do not stop an erasure, and those that name the channel are erased too', async () => {
    const gone = 'UCgone_________________A';
    await server.command('FLUSHALL');
    await server.command('RPUSH', `pennant:channel1:${gone}`, 'item');
    await server.command('RPUSH', 'pennant:search1:20:other', 'item');
    const store = createStore();
    await store.set('name1:handle:gone', { value: `{"value":"${gone}"}`, storedAtMs: 1 }, 60_000);
    expect((await store.erase(changeOfChannels(new Set([gone])))).toSorted()).toEqual([
      `channel1:${gone}`,
      'name1:handle:gone',
    ]);
    expect(await server.command('KEYS', '*')).toEqual(['pennant:search1:20:other']);
  });

  test('an entry with a lifetime below a millisecond is not stored', async () => {
    const store = createStore();
    await store.set('short', { value: 'old', storedAtMs: 1 }, 60_000);
    await store.set('short', { value: 'new', storedAtMs: 2 }, 0.4);
    expect(await store.get('short')).toBeUndefined();
  });

  describe('shared images', () => {
    const bytes = Buffer.concat([
      Buffer.from('RIFFxxxxWEBP'),
      Buffer.from(Array.from({ length: 244 }, (_, byte) => byte)),
    ]);
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    const key = `image2/UCsome_________________A/${digest}/0,0,1,1/1x1/default.webp`;
    const original = `original/UCsome_________________A/${digest}`;
    let refused: string[];
    let images: SharedImages;
    beforeEach(() => {
      refused = [];
      images = createImages({ maxImageBytes: 256, onRefused: (each) => refused.push(each) });
      return server.command('FLUSHALL');
    });

    test('are returned byte for byte, and those over the limit are not stored', async () => {
      for (const each of [key, `${key}.refined`, original]) {
        await images.set(each, bytes);
        expect(await images.get(each)).toEqual(bytes);
      }
      await images.set(`${key}2.webp`, Buffer.alloc(257));
      expect(await images.get(`${key}2.webp`)).toBeUndefined();
      expect(refused).toEqual([]);
    });

    async function store(under: string, content: Buffer): Promise<void> {
      await createImages().set(under, content);
    }
    const script = Buffer.from('<script>alert(document.domain)</script>');

    test.each<[string, string, (redisKey: string) => Promise<unknown>]>([
      ['a list', key, (redisKey) => server.command('RPUSH', redisKey, 'item')],
      ['nothing but a checksum', key, (redisKey) => server.command('SET', redisKey, 'abcd')],
      ['bytes without a checksum', key, (redisKey) => server.command('SET', redisKey, 'RIFFxxxxWEBP and more')],
      [
        'a damaged image',
        key,
        async (redisKey) => {
          await store(key, bytes);
          await server.command('SETRANGE', redisKey, '100', 'damage');
        },
      ],
      ['a script', key, () => store(key, script)],
      ['an image of another format', key, () => store(key, Buffer.from('\xff\xd8\xff and more than that', 'latin1'))],
      [
        'the image of another key',
        key,
        async (redisKey) => {
          await store(key.replace('1x1', '2x2'), bytes);
          await server.command('RENAME', redisKey.replace('1x1', '2x2'), redisKey);
        },
      ],
      ['a script in place of an original', original, () => store(original, script)],
      ['another image in place of an original', original, () => store(original, Buffer.concat([bytes, bytes]))],
    ])('are a miss with %s', async (_what, under, put) => {
      await put(`pennant:bytes2:${under}`);
      expect(await images.get(under)).toBeUndefined();
      expect(refused).toEqual([under]);
      await images.set(under, bytes);
      expect(await images.get(under)).toEqual(bytes);
    });

    test('of the former form are not read, and are erased', async () => {
      await server.command('SET', `pennant:${key}`, 'RIFFxxxxWEBP of an earlier version');
      expect(await images.get(key)).toBeUndefined();
      await images.set(key, bytes);
      await images.erase(changeOfChannels(new Set(['UCsome_________________A'])));
      expect(await server.command('KEYS', '*')).toEqual([]);
    });
  });
});
