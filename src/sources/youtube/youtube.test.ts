import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { FAULTS, respondWithHtml, respondWithJson, respondWithStatus } from '../../../test/helpers/fake-upstream.ts';
import { handleRef } from '../../../test/helpers/handle.ts';
import { jsonResponse, OWN_RESPONSES, ownResponse, readResponses } from '../../../test/helpers/replay-responses.ts';
import type { ReplayServer } from '../../../test/helpers/replay-server.ts';
import {
  createTestYoutubeSource,
  startReplayedSource,
  type YoutubeSource,
} from '../../../test/helpers/youtube-source.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const QUARRY = 'UCreplayQuarry0000000003';
const AGE_GATED = 'UCreplayDistillery000004';
const GAME = 'UCreplayGameTopic0000006';
const MOVED = 'UCreplayMovedAway0000009';
const HEADER_TOKEN = 'UCreplayHeaderToken00012';

const FOGHORN_PANEL = {
  aboutChannelViewModel: { viewCountText: '99 views', joinedDateText: { content: 'Joined Feb 1, 2015' } },
};
const RESPONSES = [
  ...readResponses(OWN_RESPONSES),
  jsonResponse('browse', { continuation: 'token-from-the-header' }, panelReply(FOGHORN_PANEL)),
];

function panelReply(metadata: object) {
  const continuationItems = [{ aboutChannelRenderer: { metadata } }];
  return { onResponseReceivedEndpoints: [{ appendContinuationItemsAction: { continuationItems } }] };
}

let replay: ReplayServer;
let source: YoutubeSource;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ replay, source } = await startReplayedSource({ responses: RESPONSES }));
});

const load = (channelId: string) => source.getChannel(channelId, { signal });
const resolveHandle = (name: string) => source.resolve(handleRef(name), { signal });
describe('requests', () => {
  it('for page, panel and feed are sent at the same time, with language en and country US', async () => {
    await load(LIGHTHOUSE);
    expect(replay.calls.map(({ route }) => route).sort()).toEqual(['about', 'browse', 'feed']);
    for (const { body, headers } of replay.calls.filter(({ route }) => route !== 'feed')) {
      expect(body?.context).toMatchObject({ client: { hl: 'en', gl: 'US', clientName: 'WEB' } });
      expect(headers).toMatchObject({ cookie: 'SOCS=CAE=', 'accept-language': 'en-US,en;q=0.9' });
    }
  });

  it('for the panel do not wait for the page', async () => {
    replay.misbehave('browse', FAULTS.hangBeforeHeaders);
    const controller = new AbortController();
    const response = source.getChannel(LIGHTHOUSE, { signal: controller.signal });
    response.catch(() => undefined);
    await expect.poll(() => replay.callsTo('about')).toHaveLength(1);
    controller.abort();
    await expect(response).rejects.toThrow();
  });

  it('have a field mask', async () => {
    await load(LIGHTHOUSE);
    expect(replay.callsTo('browse')[0]?.path).toContain('$fields=header,metadata,');
  });

  it('contain the real host in the URL to be resolved', async () => {
    await resolveHandle('BELLROCKLIGHT');
    expect(replay.calls[0]?.body?.url).toBe('https://www.youtube.com/@BELLROCKLIGHT');
  });
});

describe('a record', () => {
  it('of an age-restricted channel is requested again without the mask', async () => {
    expect((await load(AGE_GATED)).channel.title).toBe('Distillery');
    expect(replay.callsTo('browse')).toHaveLength(2);
  });

  it.each([
    [
      'a notice',
      { alerts: [{ alertRenderer: { type: 'INFO', text: { simpleText: 'Viewer discretion is advised.' } } }] },
    ],
    ['metadata without a title', { metadata: { channelMetadataRenderer: { externalId: AGE_GATED } } }],
    ['an unknown header', { header: { gateHeaderRenderer: {} } }],
  ])('is requested again without the mask if the page has only %s inside it', async (_what, part) => {
    replay.misbehave('browse', respondWithJson(part), 1);
    expect((await load(AGE_GATED)).channel.title).toBe('Distillery');
  });

  it('of a channel that moved has the page and the panel of the new channel', async () => {
    const { channel, isComplete } = await load(MOVED);
    expect(channel).toMatchObject({ channelId: LIGHTHOUSE, viewCount: '312530935570' });
    expect(isComplete).toBe(true);
  });

  it('of a channel that moved is found by the URL of the redirect too', async () => {
    const endpoint = { clickTrackingParams: 'x', urlEndpoint: { url: `/channel/${LIGHTHOUSE}` } };
    replay.misbehave('browse', respondWithJson({ onResponseReceivedActions: [{ navigateAction: { endpoint } }] }), 1);
    expect((await load(MOVED)).channel.channelId).toBe(LIGHTHOUSE);
  });

  it('of a channel whose redirects form a circle is an error', async () => {
    const navigate = (browseId: string) => ({
      onResponseReceivedActions: [{ navigateAction: { endpoint: { browseEndpoint: { browseId } } } }],
    });
    replay.misbehave('browse', respondWithJson(navigate(GAME)), 1);
    replay.misbehave('browse', respondWithJson(navigate(MOVED)), 1);
    replay.misbehave('browse', respondWithJson(navigate(GAME)), 1);
    replay.misbehave('browse', respondWithJson(navigate(MOVED)), 1);
    await expect(load(MOVED)).rejects.toMatchObject({ code: 'upstream_invalid' });
    expect(replay.callsTo('browse')).toHaveLength(4);
  });

  it('has nothing from a response without the requested About tab', async () => {
    const described = { metadata: { channelMetadataRenderer: { description: 'Of the home page.' } } };
    const title = { simpleText: 'T' };
    replay.misbehave('browse', respondWithJson({ header: { interactiveTabbedHeaderRenderer: { title } } }), 1);
    replay.misbehave('browse', respondWithJson(described), 1);
    const { channel, isComplete } = await load(GAME);
    expect(replay.callsTo('browse').map(({ body }) => body?.params)).toEqual([undefined, 'EgVhYm91dA%3D%3D']);
    expect(channel).toMatchObject({ channelId: GAME, title: 'T', description: null });
    expect(isComplete).toBe(true);
  });

  it('never combines a page with the panel of another channel', async () => {
    replay.misbehave('browse', respondWithJson(ownResponse('browseId', 'UCreplayQuiet00000000007')));
    const { channel } = await load(LIGHTHOUSE);
    expect(channel).toMatchObject({ channelId: 'UCreplayQuiet00000000007', viewCount: '1', links: [] });
  });

  it('is incomplete if the header’s token leads to the panel of another channel', async () => {
    const aboutChannelViewModel = { channelId: LIGHTHOUSE, viewCountText: '7 views' };
    replay.misbehave('about', respondWithJson({}), 1);
    replay.misbehave('about', respondWithJson({ onResponseReceivedEndpoints: [{ aboutChannelViewModel }] }));
    const { channel, isComplete } = await load(HEADER_TOKEN);
    expect([channel.title, channel.viewCount, isComplete]).toEqual(['Foghorn', null, false]);
  });

  it('uses the About tab in an older layout', async () => {
    const { channel, isComplete } = await load(QUARRY);
    expect(channel).toMatchObject({ viewCount: '186854342', country: 'CI' });
    expect(isComplete).toBe(true);
    expect(replay.callsTo('browse')[1]?.body?.params).toBe('EgVhYm91dA%3D%3D');
  });

  it('is complete if the channel has no panel', async () => {
    const { channel, isComplete } = await load(GAME);
    expect(channel).toMatchObject({ viewCount: null, links: null });
    expect(isComplete).toBe(true);
  });
});

describe('a lost panel', () => {
  const lostPanels = {
    'an error': respondWithStatus(503),
    HTML: respondWithHtml(),
    'a connection reset': FAULTS.resetBeforeResponse,
    'half a response': FAULTS.closeMidBody,
    'a block': respondWithStatus(429),
  };

  it.each(Object.entries(lostPanels))('by %s gives a record that names the missing fields', async (_what, listener) => {
    replay.misbehave('about', listener);
    const { channel, isComplete, missing } = await load(LIGHTHOUSE);
    expect(channel).toMatchObject({
      title: 'Bell Rock Light',
      subscriberCount: '1130000',
      viewCount: null,
      links: null,
    });
    expect(isComplete).toBe(false);
    expect([...missing].sort()).toEqual(['country', 'links', 'videoCount', 'viewCount']);
  });

  it('that never arrives does not lose the page', async () => {
    const clock = createManualClock();
    const source = createTestYoutubeSource(replay.origin, { clock });
    replay.misbehave('about', FAULTS.hangBeforeHeaders);
    const loading = source.getChannel(LIGHTHOUSE, { signal });
    await clock.passTimer(3_000);
    const { channel, isComplete } = await loading;
    await source.close();
    expect([channel.title, isComplete]).toEqual(['Bell Rock Light', false]);
  });

  it('of the built token is requested with the token in the page', async () => {
    replay.misbehave('about', respondWithStatus(404), 1);
    expect(await load(HEADER_TOKEN)).toMatchObject({ isComplete: true, channel: { viewCount: '99' } });
    expect(replay.callsTo('about').map(({ body }) => body?.continuation)[1]).toBe('token-from-the-header');
    replay.misbehave('about', FAULTS.closeMidBody, 1);
    expect(await load(HEADER_TOKEN)).toMatchObject({ isComplete: true, channel: { viewCount: '99' } });
  });
});
