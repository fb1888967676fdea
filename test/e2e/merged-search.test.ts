import { beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { catalogLine, writeCatalog } from '../helpers/catalog.ts';
import { numberedChannelId } from '../helpers/fake-source.ts';
import { respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import type { InProcessResponse } from '../helpers/in-process.ts';
import { ownResponse } from '../helpers/replay-responses.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
const TOPIC = 'UCreplayGameTopic0000006';
const QUIET = 'UCreplayQuiet00000000007';
const OWN = numberedChannelId(1);
const MINUTE_MS = 60_000;

let running: YoutubeService;
let service: TestApp;
let replay: ReplayServer;
beforeEach(async () => {
  const dataDir = await createDataDir();
  await writeCatalog(dataDir, [
    catalogLine(1, { title: 'Light of our own', subscriberCount: '1' }),
    catalogLine(2, { channelId: LIGHTHOUSE, title: 'Bell Rock Light, as the operator has it', subscriberCount: '9' }),
    catalogLine(3, { channelId: HARBOUR, title: 'A name that only the operator uses' }),
  ]);
  const env = { SOURCES: 'catalog,youtube' };
  running = await startYoutubeForTest({}, { dataDir, env });
  ({ service, replay } = running);
});

async function search(query: string) {
  const response = await service.get(`/api/search?q=${encodeURIComponent(query)}`);
  expect(response.status).toBe(200);
  return { ...response, results: resultsOf(response), ids: idsOf(response) };
}

function resultsOf(response: InProcessResponse) {
  return response.json<{ results: { channelId: string; title: string }[] }>().results;
}

function idsOf(response: InProcessResponse): string[] {
  return resultsOf(response).map(({ channelId }) => channelId);
}

describe('a search in the catalog and upstream', () => {
  it('lists the catalog’s channels first, then upstream’s, and none twice', async () => {
    const { ids, results, headers } = await search('light');
    expect(new Set(ids.slice(0, 2))).toEqual(new Set([OWN, LIGHTHOUSE]));
    expect(ids.slice(2)).toEqual([TOPIC, HARBOUR]);
    expect(results.find(({ channelId }) => channelId === LIGHTHOUSE)?.title).toContain('as the operator has it');
    // Also where only YouTube finds it.
    expect(results.at(-1)?.title).toBe('A name that only the operator uses');
    expect(headers['cache-control']).toBe('public, max-age=600');
    expect(headers['cache-status']).toBe('pennant; fwd=uri-miss; stored');
  });

  it('has the catalog’s results only while upstream fails, for ten seconds, and the next request calls upstream again', async () => {
    replay.misbehave('search', respondWithStatus(500));
    const { ids, headers } = await search('light');
    expect(new Set(ids)).toEqual(new Set([OWN, LIGHTHOUSE]));
    expect(headers['cache-control']).toBe('public, max-age=10');
    expect(headers['cache-status']).toBe('pennant; fwd=uri-miss');
    replay.behave();
    const again = await search('light');
    expect(again.ids).toHaveLength(4);
    expect(again.headers['cache-control']).toBe('public, max-age=600');
  });

  it('is an error, not an empty list, when the catalog has nothing and upstream fails', async () => {
    replay.misbehave('search', respondWithStatus(500));
    for (const query of ['darkness', 'darkness']) {
      replay.forgetCalls();
      const response = await service.get(`/api/search?q=${query}`);
      expect([response.status, response.json().code]).toEqual([503, 'upstream_unavailable']);
      expect(response.headers['cache-control']).toBe('no-store');
      expect(response.headers['retry-after']).toBe('30');
      expect(replay.callsTo('search').length).toBeGreaterThan(0);
    }
    replay.behave();
    const { ids, headers } = await search('darkness');
    expect([ids, headers['cache-control']]).toEqual([[], 'public, max-age=600']);
  });
});

describe('a search that names a channel about which upstream gives no usable response', () => {
  const names = {
    'a handle': '@quietly',
    'a handle’s page': 'youtube.com/@quietly',
  };

  it.each(Object.entries(names))('is an error, not an empty list: %s', async (_what, text) => {
    replay.misbehave('browse', respondWithStatus(500));
    replay.misbehave('resolve', respondWithStatus(500));
    const response = await service.get(`/api/search?q=${encodeURIComponent(text)}`);
    expect([response.status, response.headers['cache-control']]).toEqual([503, 'no-store']);
    replay.behave();
    expect((await search(text)).headers['cache-control']).toBe('public, max-age=600');
  });

  it('has the other results, for ten seconds', async () => {
    replay.misbehave('resolve', respondWithStatus(500));
    replay.misbehave('search', respondWithJson(ownResponse('query', 'light')));
    const { ids, headers } = await search('@nobody');
    expect([ids.length, headers['cache-control']]).toEqual([3, 'public, max-age=10']);
  });
});

describe('a search that names a channel whose record or name is old', () => {
  const leadTo = (browseId: string) => {
    replay.behave();
    replay.misbehave('resolve', respondWithJson({ endpoint: { browseEndpoint: { browseId } } }));
  };

  it('may be kept for a minute, because the handle may be another channel’s by now', async () => {
    leadTo(QUIET);
    const first = await search('@keeper');
    expect([first.ids, first.headers['cache-control']]).toEqual([[QUIET], 'public, max-age=600']);
    service.clock.advance(61 * MINUTE_MS);
    leadTo(HARBOUR);
    const old = await search('@keeper');
    expect([old.ids, old.headers['cache-control']]).toEqual([[QUIET], 'public, max-age=60']);
    const record = await service.getLater('/api/channel/keeper?type=handle');
    expect(record.json()).toMatchObject({ channelId: HARBOUR });
    const next = await search('@keeper');
    expect([next.ids, next.headers['cache-control']]).toEqual([[HARBOUR], 'public, max-age=599']);
  });
});
