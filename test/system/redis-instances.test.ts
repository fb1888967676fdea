import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { createRedisClock, type Instance, startConnected, statuses } from '../helpers/redis-instance.ts';

const SAMPLE = 'UCPennantSample00000001A';
const UNLIMITED = { RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited' };

describe.skipIf(!findRedisServer())('instances on one redis-server', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.remove());

  /** Waits for entries that are stored after the response. */
  async function untilStored(pattern: string): Promise<void> {
    await expect.poll(() => server.command('KEYS', `pennant:${pattern}`)).not.toEqual([]);
  }

  test('together admit exactly ten requests of one client', async () => {
    const instances = await Promise.all([startConnected(server.url), startConnected(server.url)]);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (instances[index % 2] as Instance).get(`/api/channel/${SAMPLE}`)),
    );
    expect(statuses(answers)).toEqual({ 200: 10, 429: 90 });
    const left = answers.filter(({ status }) => status === 200).map(({ headers }) => headers['x-ratelimit-remaining']);
    expect(left.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  test('give a client no second budget when Redis has lost its rate limit', async () => {
    const instance = await startConnected(server.url);
    for (let sent = 0; sent < 10; sent += 1) expect((await instance.get('/problems')).status).toBe(200);
    await server.command('FLUSHALL');
    expect((await instance.get('/problems')).status).toBe(429);
  });

  test('use records, handles, searches, pictures and negative results that another instance has loaded', async () => {
    const first = await startConnected(server.url, UNLIMITED);
    const second = await startConnected(server.url, UNLIMITED);
    for (const [path, stored] of [
      [`/api/channel/${SAMPLE}`, `channel1:${SAMPLE}`],
      ['/api/channel/copperloop?type=handle', 'name1:handle:copperloop'],
      ['/api/search?q=saltmarrow', 'search2:*saltmarrow'],
      [`/${SAMPLE}/mobile.webp`, `bytes2:picture2/${SAMPLE}/*`],
      ['/api/channel/UCnosuchchannel000000AAA', 'channel1:UCnosuchchannel000000AAA'],
    ] as const) {
      const loaded = await first.get(path);
      expect(loaded.headers['cache-status'] ?? '', path).not.toMatch(/^pennant; hit/);
      await untilStored(stored);
      const found = await second.get(path);
      expect(found.headers['cache-status'], path).toMatch(/^pennant; hit/);
      expect([found.status, found.headers.etag], path).toEqual([loaded.status, loaded.headers.etag]);
      if (found.status === 200) expect(found.bytes.equals(loaded.bytes), path).toBe(true);
    }
  });

  test('treat a record from an instance whose clock is ahead as fresh', async () => {
    const behind = createRedisClock();
    behind.jumpWallClock(-2_000);
    const first = await startConnected(server.url, UNLIMITED);
    const second = await startConnected(server.url, UNLIMITED, behind);
    await first.get(`/api/channel/${SAMPLE}`);
    await untilStored(`channel1:${SAMPLE}`);
    const found = await second.get(`/api/channel/${SAMPLE}`);
    expect(found.headers['cache-status']).toMatch(/^pennant; hit; ttl=3[56]\d\d/);
  });

  test('keep pictures of a client’s own size to themselves', async () => {
    const instance = await startConnected(server.url, UNLIMITED);
    await instance.get(`/${SAMPLE}/mobile.webp`);
    await untilStored('bytes2:picture*');
    await instance.get(`/${SAMPLE}/mobile.webp?width=777`);
    // A connection sends commands in order, so all earlier writes are done.
    await instance.get(`/${SAMPLE}/avatar.webp`);
    await expect.poll(() => server.command('KEYS', 'pennant:bytes2:picture*')).toHaveLength(2);
  });

  test('keep using Redis when keys hold another type or foreign values', async () => {
    const record = `pennant:channel1:${SAMPLE}`;
    const limit = 'pennant:limit1:10/3600000:127.0.0.1';
    const clock = createRedisClock();
    await server.command('RPUSH', record, 'item');
    await server.command('SET', limit, 'text');
    await server.command('SET', 'pennant:search2:saltmarrow', `${clock.now()} {"value":null,"freshMs":1e308}`);
    await server.command(
      'SET',
      'pennant:name1:handle:copperloop',
      `${clock.now()} {"value":"undefined","freshMs":60000}`,
    );
    const instance = await startConnected(server.url, {}, clock);
    for (const path of [`/api/channel/${SAMPLE}`, '/api/search?q=saltmarrow', '/api/channel/copperloop?type=handle']) {
      const { status, headers } = await instance.get(path);
      expect([path, status, headers['cache-status']]).toEqual([
        path,
        200,
        expect.stringMatching(/fwd=uri-miss; stored/),
      ]);
    }
    const refused = await Promise.all(
      ['channel', 'limit', 'search', 'name'].map((kind) =>
        instance.metric(`pennant_stored_values_refused_total{kind="${kind}"}`),
      ),
    );
    expect(refused).toEqual([1, 1, 1, 1]);
    expect([await instance.metric('pennant_redis_usable'), (await instance.readiness()).conditions]).toEqual([1, []]);
    await expect.poll(() => server.command('TYPE', record)).toBe('string');
  });

  test('still have records and pictures after a restart', async () => {
    const first = await startConnected(server.url, UNLIMITED);
    const before = await first.get(`/${SAMPLE}/avatar`);
    await untilStored('bytes2:*');
    const second = await startConnected(server.url, UNLIMITED);
    const after = await second.get(`/${SAMPLE}/avatar`);
    expect(after.headers['cache-status']).toMatch(/^pennant; hit/);
    expect(after.headers['last-modified']).toBe(before.headers['last-modified']);
  });
});
