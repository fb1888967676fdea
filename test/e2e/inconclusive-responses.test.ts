import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { TestAppOptions } from '../helpers/app.ts';
import { KEY, respondAsDataApi, respondWithDataApiError } from '../helpers/data-api.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { type LogLine, recordLog } from '../helpers/log.ts';
import type { ReplayOptions } from '../helpers/replay-server.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
const FIVE = [0, 1, 2, 3, 4];

const ALERT = {
  alertRenderer: { type: 'ERROR', text: { simpleText: 'This channel is not available in your country.' } },
};
const notInYourCountry = respondWithJson({ alerts: [ALERT] });
const jsonError = (code: number, status: string) => respondWithJson({ error: { code, status } }, code);

let running: YoutubeService;
let lines: readonly LogLine[];

async function start(replayOptions: ReplayOptions = {}, options: TestAppOptions = {}): Promise<YoutubeService> {
  const log = recordLog();
  lines = log.lines;
  running = await startYoutubeForTest(replayOptions, { ...options, logger: log.logger });
  return running;
}

async function expectReady(url = `/api/channel/${HARBOUR}`): Promise<void> {
  expect((await running.service.readiness()).conditions).toEqual([]);
  expect((await running.service.get(url)).status).toBe(200);
}

it('five channels that are not available in this country are errors of their own, and no failure of YouTube', async () => {
  const { service, replay } = await start();
  replay.misbehave('browse', notInYourCountry, FIVE.length);
  const batch = await service.get(`/api/channels?ids=${FIVE.map(numberedChannelId)}`);
  const { results } = batch.json<{ results: readonly { error: { code: string } }[] }>();
  expect(results.map(({ error }) => error.code)).toEqual(FIVE.map(() => 'upstream_unavailable'));
  const series = 'pennant_source_calls_total{source="youtube",operation="getChannel",outcome="inconclusive"}';
  expect(await service.metric(series)).toBe(FIVE.length);
  expect(lines.map(({ msg }) => msg)).not.toContain('source failed');
  await expectReady();
});

/** What YouTube's resolver says of a page address, and the status of a request for it. */
const NAMES: Readonly<Record<string, readonly [number, (url: string) => RequestListener]>> = {
  'lead to another site': [502, () => respondWithJson({ endpoint: { urlEndpoint: { url: 'https://example.com/' } } })],
  'lead to each other': [502, () => respondWithJson({ endpoint: { urlEndpoint: { url: '/@circle' } } })],
  'lead to a name that it does not know': [
    502,
    (url) =>
      url.endsWith('/vilebrequin')
        ? jsonError(404, 'NOT_FOUND')
        : respondWithJson({ endpoint: { urlEndpoint: { url: '/vilebrequin' } } }),
  ],
  'get a 404 for another reason': [502, () => jsonError(404, 'UNIMPLEMENTED')],
  'lead to a video': [404, () => respondWithJson({ endpoint: { watchEndpoint: { videoId: 'exampleVideo' } } })],
};

it('five names about which YouTube says something else are no failure of YouTube', async () => {
  const { service, replay } = await start();
  for (const [what, [status, listenerFor]] of Object.entries(NAMES)) {
    replay.misbehave('resolve', (request, response) => {
      const url = String(replay.callsTo('resolve').at(-1)?.body?.url);
      listenerFor(url)(request, response);
    });
    for (const number of FIVE) {
      expect([what, (await service.get(`/api/channel/name${number}?type=handle`)).status]).toEqual([what, status]);
    }
    replay.behave();
    await expectReady('/api/channel/BellRockLight?type=handle');
    service.clock.advance(60_000);
  }
});

it('five unknown IDs that get HTTP 400 are no refusal of the client version: their HTML page has no channel', async () => {
  const { service, replay } = await start({ hasAboutPages: true });
  replay.misbehave('browse', jsonError(400, 'INVALID_ARGUMENT'));
  replay.misbehave('about', jsonError(400, 'INVALID_ARGUMENT'));
  for (const number of FIVE) {
    expect((await service.get(`/api/channel/${numberedChannelId(number)}`)).status).toBe(404);
  }
  replay.behave();
  await expectReady('/api/search?q=light');
});

describe('the YouTube Data API', () => {
  const dataApi = respondAsDataApi([{ id: LIGHTHOUSE, snippet: { title: 'Bell Rock Light' } }]);
  const env = { SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: KEY };

  it('does not fail with an answer about a channel', async () => {
    const { service, replay } = await start({ dataApi }, { env });
    for (const listener of [
      respondWithDataApiError(400, 'badRequest'),
      respondWithDataApiError(403, 'channelClosed'),
      respondWithDataApiError(404, 'other'),
    ]) {
      replay.misbehave('data-api', listener, FIVE.length);
      for (const number of FIVE) {
        expect((await service.get(`/api/channel/${numberedChannelId(number)}`)).status).toBeGreaterThan(500);
      }
      service.clock.advance(60_000);
    }
    await expectReady(`/api/channel/${LIGHTHOUSE}`);
  });

  it.each([
    ['five 400 that cannot be read', respondWithStatus(400), 5, 'gives no usable responses'],
    ['two 403 without an explanation', respondWithDataApiError(403, 'forbidden'), 2, 'refuses this server'],
    ['429', respondWithDataApiError(429, 'rateLimitExceeded'), 1, 'refuses this server'],
  ])('is paused after %s', async (_what, listener, times, words) => {
    const { service, replay } = await start({ dataApi }, { env });
    replay.misbehave('data-api', listener);
    for (let number = 0; number < times; number += 1) {
      expect((await service.readiness()).conditions).toEqual([]);
      await service.get(`/api/channel/${numberedChannelId(number)}`);
    }
    const [condition] = (await service.readiness()).conditions;
    expect(condition?.detail).toContain(`YouTube Data API ${words}`);
  });
});
