import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createManualClock } from '../helpers/clock.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { startReplayServer, youtubeSettings } from '../helpers/replay-server.ts';

const VERSION = '2.20280101.02.00';
const RECORD = '/api/channel/UCreplayLighthouse000001';

describe.skipIf(!findRedisServer())('instances that share a Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.remove());

  it('use the client version that one of them has learned', async () => {
    const clientVersions = { accepted: new Set([VERSION]), named: VERSION };
    const replay = await startReplayServer({ clientVersions });
    onTestFinished(() => replay.close());
    const clock = createManualClock();
    const start = async (): Promise<TestApp> => {
      const instance = await startTestApp({ clock, env: { ...youtubeSettings(replay.origin), REDIS_URL: redis.url } });
      onTestFinished(() => instance.close());
      return instance;
    };
    const [one, other] = [await start(), await start()];
    expect((await one.get(RECORD)).status).toBe(200);
    const kept = async () => {
      await one.app.runDueWork();
      return redis.command('GET', 'pennant:kept1:youtube-client-version');
    };
    await expect.poll(kept).toContain(`"current":"${VERSION}"`);

    // From here on, only the other instance has the version.
    replay.misbehave('version', respondWithStatus(404));
    const versionOf = async (instance: TestApp) => {
      await instance.app.runDueWork();
      const { text } = await instance.console('/metrics');
      return /client_version_info\{version="([^"]+)"\} 1/.exec(text)?.[1];
    };
    await expect.poll(() => versionOf(other)).toBe(VERSION);
    replay.forgetCalls();
    expect((await other.get('/api/channel/UCreplayQuiet00000000007')).status).toBe(200);
    expect(new Set(replay.calls.map(({ headers }) => headers['x-youtube-client-version']))).toContain(VERSION);
    expect(replay.callsTo('browse')).toHaveLength(1);
  });
});
