import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { KEY, respondAsDataApi, respondWithDataApiError } from '../helpers/data-api.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { startFakeUpstream } from '../helpers/fake-upstream.ts';
import { createRedisClock, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';

const HOUR_MS = 3_600_000;

describe.skipIf(!findRedisServer())('the day’s calls to the YouTube Data API, counted in Redis', () => {
  let server: RedisServer;
  let upstream: Awaited<ReturnType<typeof startFakeUpstream>>;
  beforeEach(async () => {
    server = await startRedisServer();
    upstream = await startFakeUpstream(respondAsDataApi([]));
  });
  afterEach(async () => {
    await upstream.close();
    await server.remove();
  });

  const clock = createRedisClock();
  async function start(env: Record<string, string> = {}) {
    const app = await startForTest({
      clock,
      env: {
        REDIS_URL: server.url,
        SOURCES: 'youtube-data-api',
        YOUTUBE_API_KEY: KEY,
        YOUTUBE_ORIGIN: upstream.origin,
        YOUTUBE_API_DAILY_QUOTA: '3',
        ...env,
      },
    });
    expect(await app.metric('pennant_redis_usable')).toBe(1);
    return app;
  }
  type Instance = Awaited<ReturnType<typeof start>>;

  let asked = 0;
  /** The status of a channel that was not asked for before. */
  async function load(instance: Instance): Promise<number> {
    asked += 1;
    return (await instance.get(`/api/channel/${numberedChannelId(asked)}`)).status;
  }
  const spent = (instance: Instance) => instance.metric('pennant_data_api_quota_spent{allowance="units"}');

  it('are shared by two instances, survive the restart of both, and begin anew with the next day', async () => {
    const instances = [await start(), await start()] as const;
    for (const instance of [...instances, instances[0]]) expect(await load(instance)).toBe(404);
    for (const instance of instances) expect(await load(instance)).toBe(503);
    expect(upstream.requests).toHaveLength(3);

    for (const instance of instances) await instance.close();
    const [one, other] = [await start(), await start()];
    for (const instance of [one, other]) expect(await load(instance)).toBe(503);
    expect(upstream.requests).toHaveLength(3);
    expect(await spent(other)).toBe(3);

    clock.advance(24 * HOUR_MS);
    for (const instance of [one, other]) expect(await load(instance)).toBe(404);
    expect(await spent(other)).toBe(2);
  });

  it('are spent for every instance when the API says so to one of them', async () => {
    const [one, other] = [
      await start({ YOUTUBE_API_DAILY_QUOTA: '100' }),
      await start({ YOUTUBE_API_DAILY_QUOTA: '100' }),
    ];
    upstream.response(respondWithDataApiError(403, 'quotaExceeded'));
    expect(await load(one)).toBe(503);
    expect(await load(other)).toBe(503);
    expect(upstream.requests).toHaveLength(1);
  });

  it('go on in memory while Redis is gone', async () => {
    const one = await start();
    expect(await load(one)).toBe(404);
    await server.stop();
    const statuses = [await load(one), await load(one), await load(one)];
    expect(statuses).toEqual([404, 404, 503]);
    expect(upstream.requests).toHaveLength(3);
  });
});
