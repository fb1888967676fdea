import { beforeEach, describe, expect, it } from 'vitest';
import type { TestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { respondWithJson, respondWithStatus } from '../helpers/fake-upstream.ts';
import {
  jsonResponse,
  OWN_RESPONSES,
  ownResponse,
  type ReplayResponse,
  readResponses,
} from '../helpers/replay-responses.ts';
import type { ReplayServer } from '../helpers/replay-server.ts';
import { createDataDir } from '../helpers/started-data-dir.ts';
import { startYoutubeForTest, type YoutubeService } from '../helpers/youtube-service.ts';

/* How handles are requested from YouTube, and which need no request. */

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HARBOUR = 'UCreplayHarbour000000002';
const HOUR_MS = 3_600_000;

let running: YoutubeService;
let service: TestApp;
let replay: ReplayServer;
let responses: ReplayResponse[];
beforeEach(async () => {
  responses = [...readResponses(OWN_RESPONSES)];
  const dataDir = await createDataDir();
  running = await startYoutubeForTest({ responses }, { dataDir, encoder: createFakeEncoder() });
  ({ service, replay } = running);
});

const pageOf = (name: string) => `https://www.youtube.com/@${name}`;
const byHandle = (name: string) => service.getLater(`/api/channel/${encodeURIComponent(name)}?type=handle`);

/** YouTube knows this spelling of the handle only. */
function knowOnly(name: string): void {
  replay.misbehave('resolve', (request, response) => {
    const { url } = replay.callsTo('resolve').at(-1)?.body ?? {};
    const isKnown = decodeURIComponent(String(url)) === pageOf(name);
    const found = { endpoint: { browseEndpoint: { browseId: LIGHTHOUSE } } };
    const listener = isKnown
      ? respondWithJson(found)
      : respondWithJson({ error: { code: 404, status: 'NOT_FOUND' } }, 404);
    return listener(request, response);
  });
}

describe('the handle in a record', () => {
  it('needs no call afterwards, in any spelling, also after a restart', async () => {
    await service.get(`/api/channel/${LIGHTHOUSE}`);
    expect((await byHandle('bellrockLIGHT')).json()).toMatchObject({ channelId: LIGHTHOUSE });
    expect((await service.get('/@BellRockLight/avatar')).status).toBe(200);
    service = await running.restart();
    expect((await byHandle('BellRockLight')).headers['cache-status']).toMatch(/^pennant; hit/);
    expect(replay.callsTo('resolve')).toEqual([]);
    expect(replay.callsTo('browse')).toHaveLength(1);
  });

  it('replaces "no such channel", and the channel that had it before', async () => {
    knowOnly('another');
    expect((await byHandle('BellRockLight')).status).toBe(404);
    await service.get(`/api/channel/${LIGHTHOUSE}`);
    expect((await byHandle('BellRockLight')).json()).toMatchObject({ channelId: LIGHTHOUSE });
    const text = JSON.stringify(ownResponse('browseId', HARBOUR)).replace(/@%E0[^"]*/, '@BellRockLight');
    responses.unshift(jsonResponse('browse', { browseId: HARBOUR }, JSON.parse(text)));
    await service.get(`/api/channel/${HARBOUR}`);
    expect((await byHandle('BellRockLight')).json()).toMatchObject({ channelId: HARBOUR });
  });
});

describe('a channel page that redirects to a handle', () => {
  const MOVED = 'UCreplayRedirected000099';
  const redirectTo = (url: string) =>
    respondWithJson({ onResponseReceivedActions: [{ navigateAction: { endpoint: { urlEndpoint: { url } } } }] });

  it.each(['/@BellRockLight', 'https://www.youtube.com/@BellRockLight', '/user/bellrock', `/channel/${LIGHTHOUSE}`])(
    'is followed to its channel: %s',
    async (url) => {
      replay.misbehave('browse', redirectTo(url), 1);
      expect((await service.get(`/api/channel/${MOVED}`)).json()).toMatchObject({ channelId: LIGHTHOUSE });
    },
  );

  it('that nobody has, or to another site, is not "no such channel"', async () => {
    for (const url of ['/@nobody', 'https://example.org/@BellRockLight']) {
      replay.behave();
      replay.misbehave('browse', redirectTo(url));
      service.clock.advance(HOUR_MS);
      expect((await service.get(`/api/channel/${MOVED}`)).status).toBe(502);
    }
  });

  it('is followed as HTML, too', async () => {
    replay.misbehave('browse', respondWithJson({ error: { code: 400, status: 'INVALID_ARGUMENT' } }, 400));
    replay.misbehave('about-page', respondWithStatus(302, { location: '/@BellRockLight/about' }), 1);
    const page = JSON.stringify(ownResponse('browseId', LIGHTHOUSE));
    replay.misbehave('about-page', respondWithStatus(200, {}, `<script>var ytInitialData = ${page};</script>`));
    expect((await service.get(`/api/channel/${MOVED}`)).json()).toMatchObject({ channelId: LIGHTHOUSE });
    const asked = replay.callsTo('about-page').map(({ path }) => path);
    expect(asked).toEqual([`/channel/${MOVED}/about`, '/@BellRockLight/about', `/channel/${LIGHTHOUSE}/about`]);
  });
});
