import { describe, expect, it } from 'vitest';
import { KEY, respondAsDataApi, respondWithDataApiError } from '../helpers/data-api.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const MINUTE_MS = 60_000;

let running: YoutubeService;

async function start(env: Record<string, string> = {}, dataApi?: Parameters<typeof respondAsDataApi>[0]) {
  running = await startYoutubeForTest(dataApi === undefined ? {} : { dataApi: respondAsDataApi(dataApi) }, {
    env,
    encoder: createFakeEncoder(),
  });
  return running;
}

/** A record that no earlier request named. */
let asked = 0;
function askForNew() {
  asked += 1;
  return running.service.get(`/api/channel/${numberedChannelId(asked)}`);
}

describe('an address that YouTube refuses', () => {
  it('gets eighteen calls in an hour of a request every ten seconds', async () => {
    const { service, replay } = await start();
    replay.misbehave('all', respondWithStatus(429));
    for (let second = 0; second < 3_600; second += 10) {
      expect((await askForNew()).status).toBe(503);
      service.clock.advance(10_000);
    }
    // At once, and after 1, 3, 7, 15 and 31 minutes, each with a page, its panel and its feed.
    expect(replay.calls.length).toBe(18);
    const series = 'pennant_source_calls_total{source="youtube",operation="getChannel",outcome="upstream_unavailable"}';
    expect(await service.metric(series), 'calls that the breaker prevented are not counted').toBe(6);
  });
});

describe('searches and channels of the official API', () => {
  const channels = [{ id: LIGHTHOUSE, snippet: { title: 'Bell Rock Light' } }];
  const env = { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: KEY };

  it('are paused apart, until the day ends if the message says "per day"', async () => {
    const { service, replay } = await start(env, channels);
    const message = "Quota exceeded for quota metric 'Search Queries' and limit 'Search Queries per day'.";
    replay.misbehave('data-api', respondWithDataApiError(429, 'rateLimitExceeded', message), 1);
    const refused = await service.get('/api/search?q=light');
    expect(refused.status).toBe(503);
    // Until midnight in California.
    expect(refused.headers['retry-after']).toBe(String(8 * 3_600));
    expect((await service.get(`/api/channel/${LIGHTHOUSE}`)).status).toBe(200);
    expect((await service.readiness()).conditions).toEqual([
      expect.objectContaining({
        name: 'source youtube-data-api searches',
        detail: expect.stringMatching(/^YouTube Data API for searches has no quota left since /),
      }),
    ]);
    replay.forgetCalls();
    service.clock.advance(60 * MINUTE_MS);
    expect((await service.get('/api/search?q=lighthouse')).status).toBe(503);
    expect(replay.calls).toEqual([]);
  });
});
