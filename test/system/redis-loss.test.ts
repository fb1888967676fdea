import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { COMPARE_MS } from '../../src/cache/cache.ts';
import { AppError } from '../../src/domain/errors.ts';
import type { ChannelSource } from '../../src/sources/source.ts';
import { startForTest, type TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { createHeldSource, HELD_HANDLE, type HeldSource, HELD_CHANNEL_ID as ID } from '../helpers/fake-source.ts';
import { createRedisClock, findRedisServer, type RedisServer, reconnect, startRedisServer } from '../helpers/redis.ts';

/* A Redis that loses what instances have stored, or what one of them has purged. */

const AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/a', urls: ['https://yt3.ggpht.com/a=s0'] } as const;
const NEW_AVATAR = { kind: 'remote', key: 'https://yt3.ggpht.com/b', urls: ['https://yt3.ggpht.com/b=s0'] } as const;
const PATHS = [
  `/channel/${ID}`,
  `/api/channel/${HELD_HANDLE}?type=handle`,
  `/${ID}/avatar.webp`,
  `/@${HELD_HANDLE}/avatar.webp`,
  `/api/badge/${ID}`,
  `/api/channels?ids=${ID}`,
];

describe.skipIf(!findRedisServer())('with a real redis-server', () => {
  let redis: RedisServer;
  let source: HeldSource;
  let isSourceDown: boolean;
  beforeEach(async () => {
    redis = await startRedisServer();
    source = createHeldSource(AVATAR);
    isSourceDown = false;
  });
  afterEach(() => redis.remove());

  const downOr =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (isSourceDown) throw new AppError('upstream_unavailable', 'down');
      return call(...args);
    };

  async function startInstance(): Promise<TestApp> {
    const wrapped: ChannelSource = {
      ...source,
      resolve: downOr((...args) => source.resolve(...args)),
      getChannel: downOr((...args) => source.getChannel(...args)),
    };
    const instance = await startForTest({
      sources: [wrapped],
      downloader: { download: async ({ key }) => Buffer.from(`the image ${key}`) },
      encoder: createFakeEncoder({ encode: async ({ readOriginal }) => readOriginal() }),
      clock: createRedisClock(),
      env: { REDIS_URL: redis.url },
    });
    // On a busy machine, the first attempt may take too long.
    if ((await instance.metric('pennant_redis_usable')) !== 1) await reconnect(instance);
    return instance;
  }

  /** Without the key of a connection that was tried again, which expires after a second. */
  async function keysInRedis(): Promise<string[]> {
    const keys = (await redis.command('KEYS', 'pennant:*')) as string[];
    return keys.filter((key) => key !== 'pennant:probe');
  }
  const untilStored = (count: number) => expect.poll(async () => (await keysInRedis()).length).toBe(count);

  test.each<[what: string, lose: (instance: TestApp, texts: ReadonlyMap<string, string>) => Promise<unknown>]>([
    ['emptied', () => redis.command('FLUSHALL')],
    [
      'restarted',
      async (instance) => {
        await redis.stop();
        await redis.start();
        await reconnect(instance);
      },
    ],
    [
      'restored from an earlier state',
      (_instance, texts) => Promise.all([...texts].map(([key, text]) => redis.command('SET', key, text))),
    ],
  ])('nothing is lost when it is %s while YouTube fails, and all is loaded anew afterwards', async (_what, lose) => {
    const instance = await startInstance();
    await instance.get(`/channel/${ID}`);
    await untilStored(2);
    const texts = new Map<string, string>();
    for (const key of await keysInRedis()) texts.set(key, (await redis.command('GET', key)) as string);
    instance.clock.advance(3_600_000);
    for (const path of PATHS) expect([path, (await instance.getLater(path)).status]).toEqual([path, 200]);
    await expect.poll(() => redis.command('GET', keyOf(texts))).not.toBe(texts.get(keyOf(texts)));

    isSourceDown = true;
    await lose(instance, texts);
    instance.clock.advance(COMPARE_MS);
    for (const path of PATHS) {
      const { status, text } = await instance.getLater(path);
      expect([path, status, text.includes('"error"')]).toEqual([path, 200, false]);
    }
    expect((await instance.getLater(`/channel/${ID}`)).headers['cache-control']).toBe('public, max-age=60');

    isSourceDown = false;
    source.title = 'new title';
    // The breaker's pause, and the time until a failed reload is tried again.
    instance.clock.advance(60_000);
    expect((await instance.getLater(`/channel/${ID}`)).text).toContain('new title');
  });

  const keyOf = (texts: ReadonlyMap<string, string>) => [...texts.keys()].find((key) => key.includes(ID)) as string;

  test('a purge at one instance is seen by another one after 30 s, pictures too', async () => {
    const [first, second] = [await startInstance(), await startInstance()];
    const see = async (instance: TestApp) => [
      (await instance.getLater(`/channel/${ID}`)).text.match(/(?:old|new) title/)?.[0],
      (await instance.getLater(`/${ID}/avatar.webp`)).text,
    ];
    const former = ['old title', `the image ${AVATAR.key}`];
    expect([await see(first), await see(second)]).toEqual([former, former]);
    source.title = 'new title';
    source.avatar = NEW_AVATAR;
    expect((await first.purge(ID)).status).toBe(200);
    const current = ['new title', `the image ${NEW_AVATAR.key}`];
    expect([await see(first), await see(second)]).toEqual([current, former]);
    second.clock.advance(COMPARE_MS);
    const picture = await second.getLater(`/${ID}/avatar.webp`);
    expect([picture.text, await see(second)]).toEqual([current[1], current]);
  });

  test('no value from before a purge at one instance is in the next record that another one loads', async () => {
    const [first, second] = [await startInstance(), await startInstance()];
    await second.get(`/channel/${ID}`);
    await untilStored(2);
    expect((await first.purge(ID)).status).toBe(200);
    source.avatar = null;
    isSourceDown = true;
    second.clock.advance(COMPARE_MS);
    expect((await second.getLater(`/channel/${ID}`)).text).toContain('type=avatar');
    isSourceDown = false;
    const byHandle = await second.getLater(`/api/channel/${HELD_HANDLE}?type=handle`);
    expect(byHandle.json()).toMatchObject({ title: 'old title', avatarUrl: null });
  });

  test('a purge forgets the channel here while Redis is away, and says what it has not removed', async () => {
    const instance = await startInstance();
    await instance.get(`/channel/${ID}`);
    await redis.stop();
    source.title = 'new title';
    const { status, text } = await instance.purge(ID);
    expect([status, text]).toEqual([503, expect.stringContaining('Not removed: entries in Redis')]);
    expect((await instance.getLater(`/channel/${ID}`)).text).toContain('new title');
  });

  test('a purge leaves nothing in a Redis that evicts, whatever that has evicted', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
    const instance = await startInstance();
    await instance.get(`/api/channel/${HELD_HANDLE}?type=handle`);
    const searches = Array.from({ length: 300 }, (_, number) => `/api/search?q=${number}${'x'.repeat(90)}`);
    await Promise.all(searches.map((path) => instance.get(path)));
    const used = Number(/used_memory:(\d+)/.exec((await redis.command('INFO', 'memory')) as string)?.[1]);
    await redis.command('CONFIG', 'SET', 'maxmemory', `${used}`);
    await Promise.all(searches.map((path) => instance.get(path.replace('q=', 'q=more'))));
    expect(await redis.command('INFO', 'stats')).toMatch(/evicted_keys:[1-9]/);
    expect((await keysInRedis()).length).toBeGreaterThan(100);
    expect((await instance.purge(ID)).status).toBe(200);
    expect(await keysInRedis()).toEqual([]);
  });
});
