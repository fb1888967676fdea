import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cachePath } from '../../src/cache/cache-file.ts';
import { startWithoutEncoder, type TestApp } from '../helpers/app.ts';
import { fetchedSamples } from '../helpers/fetched-samples.ts';
import { storedImagesIn } from '../helpers/images.ts';
import { createRedisClock, findRedisServer, type RedisServer, reconnect, startRedisServer } from '../helpers/redis.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';

const [BLOCKED, OTHER] = ['UCPennantSample00000001A', 'UCPennantSample00000003A'];
const REMOVAL_RETRY_MS = 60_000;
/** Text from the blocked channel's description. */
const WORDS = 'a banner that names its own crops';
const WAYS = [
  `/api/channel/${BLOCKED}`,
  '/api/channel/pennantsample?type=handle',
  '/api/channel/pennantsample?type=username',
  '/api/search?q=crops',
  `/${BLOCKED}/tv.avif`,
  '/@pennantsample/avatar.webp',
  `/${OTHER}/tv.webp`,
];

describe.skipIf(!findRedisServer())('with Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.remove());
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await createTemporaryDirectory();
    await redis.command('FLUSHALL');
  });

  function start(env: Record<string, string> = {}, clock = createRedisClock()): Promise<TestApp> {
    return startWithoutEncoder({ dataDir, clock, env: { REDIS_URL: redis.url, ...env }, ...fetchedSamples() });
  }

  async function fillStores(env: Record<string, string> = {}): Promise<void> {
    const app = await start(env);
    for (const way of WAYS) expect([way, (await app.get(way)).status]).toEqual([way, 200]);
    await app.close();
  }

  async function keysAndValues(): Promise<string> {
    const keys = (await redis.command('KEYS', 'pennant:*')) as string[];
    const entries = keys.filter((key) => !/:limit/.test(key));
    return (await Promise.all(entries.map(async (key) => `${key} ${await redis.command('GET', key)}`))).join('\n');
  }

  const countImages = () => storedImagesIn(dataDir).length;

  const conditionsOf = async (service: TestApp) => (await service.readiness()).conditions.map(({ name }) => name);

  test('a channel that is blocked is removed from the entries of a time without Redis, too', async () => {
    await fillStores({ REDIS_URL: '' });
    const bytes = () => readFile(cachePath(dataDir), 'latin1');
    expect(await bytes()).toContain(WORDS);
    await start({ BLOCKED_CHANNELS: BLOCKED });
    await expect.poll(bytes).not.toContain(WORDS);
    expect(await bytes()).toContain(OTHER);
  });

  test('a channel that is blocked while Redis is down is removed from the disk at once, and from Redis once it is back', async () => {
    await fillStores();
    const stored = await keysAndValues();
    expect([stored.includes(WORDS), countImages() > 2]).toEqual([true, true]);
    redis.freeze();
    const clock = createRedisClock();
    clock.letCommandsTimeOut();
    const app = await start({ BLOCKED_CHANNELS: BLOCKED }, clock);
    await expect.poll(countImages).toBe(2);
    await expect.poll(() => conditionsOf(app)).toEqual(expect.arrayContaining(['redis', 'removal']));
    redis.thaw();
    clock.giveCommandsTime();
    await reconnect(app);
    clock.advance(REMOVAL_RETRY_MS);
    await expect.poll(keysAndValues).not.toMatch(new RegExp(`${WORDS}|${BLOCKED}`));
    expect(await keysAndValues()).toContain(OTHER);
    await expect.poll(() => conditionsOf(app)).toEqual([]);
  });
});
