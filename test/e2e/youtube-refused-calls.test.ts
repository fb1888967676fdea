import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { KEY, respondAsDataApi } from '../helpers/data-api.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { FAULTS, respondWithHtml, respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import { startYoutubeService, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const RECORD = `/api/channel/${LIGHTHOUSE}`;
const QUIET = '/api/channel/UCreplayQuiet00000000007';
const HARBOUR = '/api/channel/UCreplayHarbour000000002';
const HOUR_MS = 3_600_000;

const dataApi = respondAsDataApi([{ id: LIGHTHOUSE, snippet: { title: 'Bell Rock Light, from the API' } }]);

const NEW_VERSION = '2.20280101.02.00';

/** How YouTube treats client versions. */
const youtube = { accepted: new Set<string>(), acceptsWithoutHeaders: true, named: NEW_VERSION };

let running: YoutubeService;
afterEach(async () => {
  await running.close();
  Object.assign(youtube, { accepted: new Set(), acceptsWithoutHeaders: true });
});

async function start(env: Record<string, string> = {}, { hasAboutPages = false } = {}): Promise<YoutubeService> {
  running = await startYoutubeService(
    { dataApi, clientVersions: youtube, hasAboutPages },
    { env, encoder: createFakeEncoder() },
  );
  return running;
}

describe('HTTP 400', () => {
  const refusal = respondWithJson({ error: { code: 400, status: 'NOT_FOUND' } }, 400);

  it('says nothing about the channel: it is not stored, and the stored record is returned', async () => {
    const { service, replay } = await start();
    replay.misbehave('all', refusal);
    const unknown = await service.get(RECORD);
    expect([unknown.status, unknown.json().code]).toEqual([502, 'upstream_invalid']);
    expect(unknown.headers['cache-control']).toBe('no-store');

    replay.behave();
    service.clock.advance(HOUR_MS);
    expect((await service.get(RECORD)).status).toBe(200);

    replay.misbehave('all', refusal);
    service.clock.advance(HOUR_MS + 1);
    const old = await service.get(RECORD);
    expect([old.status, old.headers['cache-control']]).toEqual([200, 'public, max-age=60']);
    expect((await service.get('/api/channel/nobody?type=handle')).status).toBe(502);
  });

  it('makes the service call the next source', async () => {
    const { service, replay } = await start({ SOURCES: 'youtube,youtube-data-api', YOUTUBE_API_KEY: KEY });
    replay.misbehave('browse', refusal);
    const response = await service.get(RECORD);
    expect([response.status, response.json().title]).toEqual([200, 'Bell Rock Light, from the API']);
  });
});

describe('a client version that YouTube refuses', () => {
  it('is replaced by the one that YouTube names, once', async () => {
    const { service, replay } = await start();
    Object.assign(youtube, { accepted: new Set([NEW_VERSION]), acceptsWithoutHeaders: false });
    const paths = [QUIET, HARBOUR, RECORD, '/api/search?q=light', '/api/channel/BellRockLight?type=handle'];
    const responses = await Promise.all(paths.map((path) => service.get(path)));
    expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 200));
    expect(replay.callsTo('version')).toHaveLength(1);
    replay.forgetCalls();
    service.clock.advance(HOUR_MS + 1);
    expect((await service.get(HARBOUR)).status).toBe(200);
    const versions = replay.callsTo('browse').map(({ headers }) => headers['x-youtube-client-version']);
    expect(new Set(versions)).toEqual(new Set([NEW_VERSION]));
  });

  it.each<[string, RequestListener]>([
    ['a page', respondWithStatus(200, {}, '<html><script>ytcfg.set({})</script></html>')],
    ['data without a version', respondWithStatus(200, {}, ')]}\'\n[["yt.sw.adr",null,[]]]')],
    ['a broken connection', FAULTS.resetBeforeResponse],
  ])('stays in use while YouTube does not name one: %s', async (_what, listener) => {
    const { service, replay } = await start();
    Object.assign(youtube, { accepted: new Set([NEW_VERSION]), acceptsWithoutHeaders: false });
    replay.misbehave('version', listener);
    expect((await service.get(QUIET)).status).toBe(502);
    replay.behave();
    expect((await service.get(HARBOUR)).status).toBe(200);
  });

  it('is not suspected because of a refusal of this address or a failure', async () => {
    const { service, replay } = await start();
    for (const listener of [respondWithStatus(500), respondWithHtml(400), respondWithStatus(429)]) {
      replay.misbehave('browse', listener);
      expect((await service.get(QUIET)).status).toBe(503);
      service.clock.advance(HOUR_MS);
    }
    expect(replay.callsTo('version')).toEqual([]);
  });

  it('is replaced by the HTML pages of channels while YouTube accepts no other one', async () => {
    const { service } = await start({}, { hasAboutPages: true });
    const usual = (await service.get(RECORD)).json();
    service.clock.advance(HOUR_MS + 1);
    youtube.acceptsWithoutHeaders = false;
    for (const url of [QUIET, HARBOUR]) expect((await service.get(url)).status).toBe(200);
    expect((await service.get(RECORD)).json()).toEqual(usual);
    expect((await service.get('/api/search?q=light')).status).toBe(502);
  });
});
