import { afterEach, describe, expect, it } from 'vitest';
import { KEY, respondAsDataApi } from '../helpers/data-api.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { respondWithJson } from '../helpers/fake-upstream.ts';
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

describe.each(['INVALID_ARGUMENT', 'NOT_FOUND', 'FAILED_PRECONDITION'])('HTTP 400 %s', (status) => {
  const refusal = respondWithJson({ error: { code: 400, status } }, 400);

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
    const handle = await service.get('/api/channel/nobody?type=handle');
    expect(handle.status).toBe(502);
  });

  it('makes the service call the next source', async () => {
    const { service, replay } = await start({ SOURCES: 'youtube,youtube-data-api', YOUTUBE_API_KEY: KEY });
    replay.misbehave('browse', refusal);
    const response = await service.get(RECORD);
    expect([response.status, response.json().title]).toEqual([200, 'Bell Rock Light, from the API']);
  });
});

async function onConsole<T>(path: string): Promise<T> {
  const response = await running.service.console(path);
  expect([path, response.status]).toEqual([path, 200]);
  return response.headers['content-type']?.includes('json') ? response.json<T>() : (response.text as T);
}

describe('a client version that YouTube refuses', () => {
  it('is replaced at the second refused channel, and named on the console and in the metrics', async () => {
    Object.assign(youtube, { accepted: new Set([NEW_VERSION]), acceptsWithoutHeaders: false });
    const { service, replay } = await start();
    expect((await service.get(RECORD)).status).toBe(502);
    expect((await service.get(QUIET)).status).toBe(200);
    expect(await onConsole('/readyz')).toMatchObject({ ready: true, conditions: [] });
    const { sources } = await onConsole<{ sources: object[] }>('/state.json');
    expect(sources[0]).toMatchObject({ status: { clientVersion: { version: NEW_VERSION, origin: 'learned' } } });
    const metrics = await onConsole<string>('/metrics');
    expect(metrics).toContain(`pennant_youtube_client_version_info{version="${NEW_VERSION}"} 1`);
    replay.forgetCalls();
    expect((await service.get(HARBOUR)).status).toBe(200);
    const versions = replay.callsTo('browse').map(({ headers }) => headers['x-youtube-client-version']);
    expect(new Set(versions)).toEqual(new Set([NEW_VERSION]));
  });

  it('repeats a refused request a minute later, as after any failed reload', async () => {
    const { service } = await start();
    expect((await service.get(RECORD)).status).toBe(200);
    service.clock.advance(HOUR_MS + 1);
    Object.assign(youtube, { accepted: new Set([NEW_VERSION]), acceptsWithoutHeaders: false });
    expect((await service.get(RECORD)).headers['cache-control']).toBe('public, max-age=60');
    expect((await service.get(HARBOUR)).status).toBe(200);
    service.clock.advance(60_000);
    expect((await service.get(RECORD)).headers['cache-status']).toBe('pennant; fwd=stale; stored');
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
