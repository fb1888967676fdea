import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { channelKey, nameKey, searchKey } from '../../src/cache/keys.ts';
import { startForTest } from '../helpers/app.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { handleIdentifier } from '../helpers/handle.ts';
import { recordLog } from '../helpers/log.ts';
import { createRedisClock, findRedisServer, type RedisServer, reconnect, startRedisServer } from '../helpers/redis.ts';

const SAMPLE = 'UCPennantSample00000001A';
const HANDLE = handleIdentifier('copperloop');
const UNLIMITED = { RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited' };

type Instance = Awaited<ReturnType<typeof startInstance>>;
/** To the server, and to how long an instance waits for it. */
type Change = (at: RedisServer, clock: Instance['clock']) => unknown;

/** An instance with its own clock. Redis may not run yet. Its clock cannot be moved, so the windows are an hour long. */
async function startInstance(
  url: string,
  env: Record<string, string> = {},
  clock = createRedisClock(),
  dataDir?: string,
) {
  const { lines, logger } = recordLog('trace');
  const instance = await startForTest({
    clock,
    logger,
    ...(dataDir !== undefined && { dataDir }),
    ...fetchedSamples(),
    env: { REDIS_URL: url, RATE_LIMIT: '10/3600', RATE_LIMIT_OVERRIDES: '', ...env },
  });
  return { ...instance, clock, lines };
}

/** An instance that uses Redis. */
async function startConnected(...options: Parameters<typeof startInstance>): Promise<Instance> {
  const instance = await startInstance(...options);
  // On a busy machine, the first attempt may take too long.
  if ((await instance.metric('pennant_redis_usable')) !== 1) await reconnect(instance);
  return instance;
}

function statuses(responses: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** The log lines about Redis from info on: level and message. */
function reportedLines({ lines }: Instance): (readonly [number, string])[] {
  return lines
    .filter(({ condition, level }) => condition === 'redis' && level >= 30)
    .map(({ level, msg }) => [level, msg] as const);
}

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
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => (instances[index % 2] as Instance).get(`/api/channel/${SAMPLE}`)),
    );
    expect(statuses(responses)).toEqual({ 200: 10, 429: 90 });
    const left = responses
      .filter(({ status }) => status === 200)
      .map(({ headers }) => headers['x-ratelimit-remaining']);
    expect(left.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  test('give a client no second budget when Redis has lost its rate limit', async () => {
    const instance = await startConnected(server.url);
    for (let sent = 0; sent < 10; sent += 1) expect((await instance.get('/problems')).status).toBe(200);
    await server.command('FLUSHALL');
    expect((await instance.get('/problems')).status).toBe(429);
  });

  test('use records, handles, searches and negative results that another instance has loaded', async () => {
    const first = await startConnected(server.url, UNLIMITED);
    const second = await startConnected(server.url, UNLIMITED);
    for (const [path, stored] of [
      [`/api/channel/${SAMPLE}`, channelKey(SAMPLE)],
      ['/api/channel/copperloop?type=handle', nameKey(HANDLE)],
      ['/api/search?q=saltmarrow', searchKey('saltmarrow')],
      ['/api/channel/UCnosuchchannel000000AAA', channelKey('UCnosuchchannel000000AAA')],
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

  test('keep using Redis when keys hold foreign values', async () => {
    const limit = 'pennant:limit1:10/3600000:127.0.0.1';
    const clock = createRedisClock();
    await server.command('SET', `pennant:${channelKey(SAMPLE)}`, 'item');
    await server.command('SET', limit, 'text');
    await server.command(
      'SET',
      `pennant:${nameKey(HANDLE)}`,
      JSON.stringify({ value: 7, storedAtMs: clock.now(), freshMs: 60_000 }),
    );
    const instance = await startConnected(server.url, {}, clock);
    await server.command(
      'SET',
      `pennant:${searchKey('saltmarrow')}`,
      `{"value":[],"storedAtMs":${clock.now()},"freshMs":1e308}`,
    );
    for (const path of [`/api/channel/${SAMPLE}`, '/api/search?q=saltmarrow', '/api/channel/copperloop?type=handle']) {
      const { status, headers } = await instance.get(path);
      expect([path, status, headers['cache-status']]).toEqual([
        path,
        200,
        expect.stringMatching(/fwd=uri-miss; stored/),
      ]);
    }
    expect([await instance.metric('pennant_redis_usable'), (await instance.readiness()).conditions]).toEqual([1, []]);
  });

  test('admit a client after exactly the Retry-After time that it got after an outage', async () => {
    await server.stop();
    const instance = await startInstance(server.url);
    for (let sent = 0; sent < 10; sent += 1) expect((await instance.get('/problems')).status).toBe(200);
    await server.start();
    await reconnect(instance);
    const refused = await instance.get('/problems');
    expect(refused.status).toBe(429);
    for (let sent = 0; sent < 20; sent += 1) expect((await instance.get('/problems')).status).toBe(429);
    expect(await server.command('KEYS', 'pennant:limit*')).toEqual([]);
    instance.clock.advance(Number(refused.headers['retry-after']) * 1_000);
    expect((await instance.get('/problems')).status).toBe(200);
  });

  test.each<[string, Change, Change]>([
    [
      'frozen',
      (at, clock) => {
        at.freeze();
        clock.letCommandsTimeOut();
      },
      (at, clock) => {
        at.thaw();
        clock.giveCommandsTime();
      },
    ],
    ['gone', (at) => at.stop(), (at) => at.start()],
    [
      'full',
      (at) => at.command('CONFIG', 'SET', 'maxmemory', '1kb'),
      (at) => at.command('CONFIG', 'SET', 'maxmemory', '0'),
    ],
    ['read-only', (at) => at.command('REPLICAOF', '127.0.0.1', '1'), (at) => at.command('REPLICAOF', 'NO', 'ONE')],
  ])('respond while it is %s, and use it again afterwards', async (_state, breakIt, mendIt) => {
    const instance = await startConnected(server.url, { RATE_LIMIT: '10000/3600' });
    let searches = 0;
    /** Requests a record that is in memory and new searches at the same time. */
    const ask = () =>
      Promise.all(
        Array.from({ length: 16 }, (_, at) => {
          searches += 1;
          return instance.get(at % 2 === 0 ? `/api/channel/${SAMPLE}` : `/api/search?q=word${searches}`);
        }),
      );
    expect(statuses(await ask())).toEqual({ 200: 16 });
    const underWay = ask();
    await breakIt(server, instance.clock);
    expect(statuses(await underWay)).toEqual({ 200: 16 });
    expect(statuses(await ask())).toEqual({ 200: 16 });
    await expect.poll(() => instance.metric('pennant_redis_usable')).toBe(0);
    expect(await instance.readiness()).toMatchObject({ ready: true, conditions: [{ name: 'redis' }] });
    expect(await instance.metric('pennant_limiter_decided_alone_total')).toBeGreaterThan(0);
    // From then on, no request waits for Redis.
    const roundsBefore = instance.clock.rounds();
    expect(statuses(await ask())).toEqual({ 200: 16 });
    expect(instance.clock.rounds()).toBe(roundsBefore);

    await mendIt(server, instance.clock);
    await reconnect(instance);
    expect(statuses(await ask())).toEqual({ 200: 16 });
    expect(instance.clock.rounds()).toBeGreaterThan(roundsBefore);
    expect((await instance.readiness()).conditions).toEqual([]);
    expect(reportedLines(instance)).toEqual([
      [40, expect.stringMatching(/^redis: not used \(.+\)$/)],
      [30, 'redis works again'],
    ]);
  });
});
