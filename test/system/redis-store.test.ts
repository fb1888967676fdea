import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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

  const createStore = () => createRedisStore(connection);

  describeCache('Redis', async () => ({ open: () => ({ ...createStore(), close: () => undefined }) }));

  test('a key has the prefix and a lifetime', async () => {
    await createStore().set('channel1:UC', 'text', 7 * 86_400_000);
    expect(await server.command('KEYS', '*')).toEqual(['pennant:channel1:UC']);
    const leftMs = Number(await server.command('PTTL', 'pennant:channel1:UC'));
    expect(Math.round(leftMs / 3_600_000)).toBe(7 * 24);
  });
});
