import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeStoreContract } from '../../test/contracts/store.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../../test/helpers/redis.ts';
import { parseRedisUrl } from '../domain/redis-url.ts';
import { createRedisConnection, type RedisConnection } from '../lib/redis/connection.ts';
import { createRedisStore } from './redis.ts';
import { createSharedPictures } from './shared-pictures.ts';

describe.skipIf(!findRedisServer())('with a real redis-server', () => {
  let server: RedisServer;
  let connection: RedisConnection;
  beforeAll(async () => {
    server = await startRedisServer();
    connection = await createRedisConnection({
      address: parseRedisUrl(server.url),
      onStateChange: () => undefined,
      // Not what is tested here, and this machine may be busy.
      timings: { commandTimeoutMs: 5_000 },
    });
  });
  afterAll(async () => {
    connection?.close();
    await server?.remove();
  });

  describeStoreContract('Redis', async () => {
    await server.command('FLUSHALL');
    return {
      store: createRedisStore({ connection }),
      advance: (ms) => sleep(ms + 5),
      reopen: () => createRedisStore({ connection }),
    };
  });

  test('every key has the prefix and a lifetime', async () => {
    await server.command('FLUSHALL');
    const store = createRedisStore({ connection });
    await store.set('channel1:UC', { value: 'value', storedAtMs: 1 }, 60_000);
    await createSharedPictures({ connection, maxPictureBytes: 10 }).set('picture1/x', Buffer.from('bytes'));
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.sort()).toEqual(['pennant:channel1:UC', 'pennant:picture1/x']);
    for (const key of keys) expect(await server.command('PTTL', key)).toBeGreaterThan(0);
  });

  test('what somebody else wrote under a key reads as nothing', async () => {
    for (const value of ['', 'text', ' text', 'no number']) {
      await server.command('SET', 'pennant:foreign', value);
      expect(await createRedisStore({ connection }).get('foreign')).toBeUndefined();
    }
  });

  test('a lifetime below a millisecond leaves nothing', async () => {
    const store = createRedisStore({ connection });
    await store.set('short', { value: 'old', storedAtMs: 1 }, 60_000);
    await store.set('short', { value: 'new', storedAtMs: 2 }, 0.4);
    expect(await store.get('short')).toBeUndefined();
  });

  test('pictures come back byte for byte, and those over the limit are not kept', async () => {
    const pictures = createSharedPictures({ connection, maxPictureBytes: 256 });
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    await pictures.set('every byte', bytes);
    await pictures.set('too large', Buffer.alloc(257));
    expect(await pictures.get('every byte')).toEqual(bytes);
    expect(await pictures.get('too large')).toBeUndefined();
    expect(await pictures.get('never set')).toBeUndefined();
  });
});
