import { beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { FAULTS, respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { ownResponse } from '../helpers/replay-responses.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
const MOVED = 'UCreplayMovedAway0000009';
const EXACT = '2011-02-01T06:30:15Z';
const HOUR_MS = 3_600_000;

let running: YoutubeService;
let service: TestApp;
let replay: ReplayServer;
let dataDir: string;
beforeEach(async () => {
  dataDir = await createDataDir();
  running = await startYoutubeForTest({}, { dataDir, encoder: createFakeEncoder() });
  ({ service, replay } = running);
});

async function record(url: string, from = service): Promise<Record<string, unknown>> {
  const response = await from.get(url);
  expect([url, response.status]).toEqual([url, 200]);
  return response.json();
}

/** The number of calls to each part of upstream. */
function callCounts(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { route } of replay.calls) counts[route] = (counts[route] ?? 0) + 1;
  return counts;
}

/** After this, only stored values can be returned. */
async function restartWithoutUpstream(): Promise<void> {
  replay.misbehave('all', FAULTS.resetBeforeResponse);
  service = await running.restart();
}

describe('one load for all requests', () => {
  it('a hundred simultaneous requests by ID, handle and image make each upstream call once', async () => {
    const urls = [
      `/api/channel/${LIGHTHOUSE}`,
      '/api/channel/bellrocklight?type=handle',
      '/@BellRockLight/tv',
      `/${LIGHTHOUSE}/avatar`,
    ];
    const requests = Array.from({ length: 100 }, (_, index) => service.get(urls[index % urls.length] ?? ''));
    const responses = await Promise.all(requests);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const outcomes = responses.map(({ headers }) => headers['cache-status']);
    const [first, collapsed] = ['pennant; fwd=uri-miss; stored', 'pennant; fwd=uri-miss; stored; collapsed'];
    expect(outcomes).toEqual(expect.arrayContaining([first, collapsed]));
    expect(callCounts()).toEqual({ resolve: 1, browse: 1, about: 1, feed: 1, image: 2 });
  });

  it('all variants of a banner are cut from one download', async () => {
    for (const variant of ['tv', 'mobile', 'tablet', 'desktop', 'default']) {
      expect((await service.get(`/${LIGHTHOUSE}/${variant}`)).status).toBe(200);
    }
    expect(replay.callsTo('image').map(({ path }) => path)).toEqual(['/lighthouse-banner=s0']);
  });
});

describe('the feed', () => {
  const url = `/api/channel/${LIGHTHOUSE}`;
  const feedWith = (title: string) =>
    respondWithStatus(
      200,
      { 'content-type': 'text/xml' },
      `<feed><title>${title}</title><published>2011-02-01T06:30:15+00:00</published></feed>`,
    );
  const untilReloaded = () => service.clock.advance(HOUR_MS + 1);

  it('gives the owner’s title and the second, which are kept across refreshes and a restart', async () => {
    replay.misbehave('feed', feedWith('Faro di Bell Rock &amp; più &#9875;'));
    const values = { title: 'Faro di Bell Rock & più ⚓', publishedAt: EXACT };
    const first = await service.get(url);
    expect(first.json()).toMatchObject(values);
    replay.misbehave('feed', respondWithStatus(404));
    untilReloaded();
    const refreshed = await service.get(url);
    expect(refreshed.headers['cache-status']).toBe('pennant; fwd=stale; stored');
    expect(refreshed.headers.etag).toBe(first.headers.etag);
    expect(replay.callsTo('feed')).toHaveLength(1);
    await restartWithoutUpstream();
    expect(await record(url)).toMatchObject(values);
  });

  it('that fails leaves the page’s title and day, and is asked again with the next page', async () => {
    replay.misbehave('feed', respondWithStatus(404));
    expect(await record(url)).toMatchObject({ title: 'Bell Rock Light', publishedAt: '2011-02-01T00:00:00Z' });
    expect((await record(url)).publishedAt).toBe('2011-02-01T00:00:00Z');
    expect(replay.callsTo('feed')).toHaveLength(1);
    replay.behave();
    untilReloaded();
    expect((await record(url)).publishedAt).toBe(EXACT);
  });

  it('that hangs delays a record by 250 ms', async () => {
    replay.misbehave('feed', FAULTS.hangBeforeHeaders);
    const loading = record(url);
    await service.clock.passTimer(250);
    expect((await loading).publishedAt).toBe('2011-02-01T00:00:00Z');
  });

  it('is asked again after the page’s title has changed', async () => {
    replay.misbehave('feed', feedWith('Faro'), 1);
    expect((await record(url)).title).toBe('Faro');
    const page = JSON.stringify(ownResponse('browseId', LIGHTHOUSE)).replaceAll('"Bell Rock Light"', '"Bell Rock"');
    replay.misbehave('browse', respondWithJson(JSON.parse(page)));
    replay.misbehave('feed', feedWith('Roccia'));
    untilReloaded();
    expect((await record(url)).title).toBe('Bell Rock');
    untilReloaded();
    expect((await record(url)).title).toBe('Roccia');
  });

  it('of another channel changes nothing', async () => {
    const xml = `<feed><link rel="alternate" href="https://www.youtube.com/channel/${HARBOUR}"/><title>H</title><published>2020-01-01T01:01:01Z</published></feed>`;
    replay.misbehave('feed', respondWithStatus(200, {}, xml));
    expect(await record(url)).toMatchObject({ title: 'Bell Rock Light', publishedAt: '2011-02-01T00:00:00Z' });
  });
});

it('after a restart, a crop that was never made comes out of the stored original', async () => {
  await service.get(`/${LIGHTHOUSE}/tv`);
  await restartWithoutUpstream();
  expect((await service.get(`/${LIGHTHOUSE}/mobile?format=webp`)).status).toBe(200);
});

describe('identifiers that change', () => {
  it('an ID that upstream redirects returns the target, and both are one channel', async () => {
    const moved = await record(`/api/channel/${MOVED}`);
    expect(moved.channelId).toBe(LIGHTHOUSE);
    expect(moved.bannerUrl).toContain(LIGHTHOUSE);
    const callsSoFar = replay.callsTo('browse').length;
    expect((await record(`/api/channel/${LIGHTHOUSE}`)).channelId).toBe(LIGHTHOUSE);
    expect((await service.get(`/${MOVED}/tv`)).headers['content-disposition']).toContain(LIGHTHOUSE);
    expect(replay.callsTo('browse')).toHaveLength(callsSoFar);
  });

  it('a handle that another channel took over returns that channel after the hour', async () => {
    const url = '/api/channel/BellRockLight?type=handle';
    expect((await record(url)).channelId).toBe(LIGHTHOUSE);
    replay.misbehave('resolve', respondWithJson({ endpoint: { browseEndpoint: { browseId: HARBOUR } } }));
    expect((await record(url)).channelId).toBe(LIGHTHOUSE);
    service.clock.advance(HOUR_MS + 1);
    expect((await record(url)).channelId).toBe(HARBOUR);
    expect((await record(`/api/channel/${LIGHTHOUSE}`)).channelId).toBe(LIGHTHOUSE);
  });
});
