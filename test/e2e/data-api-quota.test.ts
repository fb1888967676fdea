import { afterEach, expect, it } from 'vitest';
import { createManualClock } from '../helpers/clock.ts';
import { KEY, respondAsDataApi } from '../helpers/data-api.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

const MINUTE_MS = 60_000;
/** Shortly after midnight in California. */
const MORNING = Date.UTC(2026, 6, 1, 7, 5);

const dataApi = respondAsDataApi([{ id: 'UCPennantSample00000001A', snippet: { title: 'Sample' } }]);

let running: YoutubeService;
afterEach(() => running.close());

it('the day’s searches of the official API end before the day, and stored results are served meanwhile', async () => {
  const env = { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: KEY, YOUTUBE_API_DAILY_QUOTA: '300' };
  const clock = createManualClock(MORNING);
  running = await startYoutubeService({ responses: [], dataApi }, { env, clock });
  const { service, replay } = running;
  for (const query of ['sample', 'one', 'two']) expect((await service.get(`/api/search?q=${query}`)).status).toBe(200);
  const refused = await service.get('/api/search?q=three');
  // Until midnight in California.
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, String(24 * 3_600 - 300)]);
  expect(replay.callsTo('data-api')).toHaveLength(3);
  clock.advance(11 * MINUTE_MS);
  const old = await service.get('/api/search?q=sample');
  expect([old.status, old.headers['cache-control']]).toEqual([200, 'public, max-age=60']);
  clock.advance(24 * 60 * MINUTE_MS);
  const { quotas } = (await service.state()).sources[0]?.status ?? {};
  expect(quotas).toContainEqual({ name: 'searches', spent: 0, perDay: 3 });
  expect((await service.get('/api/search?q=another')).status).toBe(200);
});
