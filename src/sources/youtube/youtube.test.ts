import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import {
  FAULTS,
  redirectTo,
  respondWithHtml,
  respondWithJson,
  respondWithStatus,
} from '../../../test/helpers/fake-upstream.ts';
import { handleIdentifier } from '../../../test/helpers/handle.ts';
import { jsonResponse, OWN_RESPONSES, ownResponse, readResponses } from '../../../test/helpers/replay-responses.ts';
import type { ReplayServer } from '../../../test/helpers/replay-server.ts';
import {
  createTestYoutubeSource,
  startReplayedSource,
  type YoutubeSource,
} from '../../../test/helpers/youtube-source.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const AGE_GATED = 'UCreplayDistillery000004';
const GAME = 'UCreplayGameTopic0000006';
const MOVED = 'UCreplayMovedAway0000009';
const HEADER_TOKEN = 'UCreplayHeaderToken00012';

const FOGHORN_PANEL = {
  aboutChannelViewModel: { viewCountText: '99 views', joinedDateText: { content: 'Joined Feb 1, 2015' } },
};
const continuationItems = [{ aboutChannelRenderer: { metadata: FOGHORN_PANEL } }];
const RESPONSES = [
  ...readResponses(OWN_RESPONSES),
  jsonResponse(
    'browse',
    { continuation: 'token-from-the-header' },
    { onResponseReceivedEndpoints: [{ appendContinuationItemsAction: { continuationItems } }] },
  ),
];

let replay: ReplayServer;
let source: YoutubeSource;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ replay, source } = await startReplayedSource({ responses: RESPONSES, hasAboutPages: true }));
});

const load = (channelId: string) => source.getChannel(channelId, { signal });
const jsonError = (code: number, status: string) => respondWithJson({ error: { code, status } }, code);
const NOT_FOUND = jsonError(404, 'NOT_FOUND');
const REFUSED = jsonError(400, 'INVALID_ARGUMENT');

it('requests have a language, a country and a field mask, and name pages of the real host', async () => {
  await load(LIGHTHOUSE);
  for (const { body, headers } of replay.calls.filter(({ route }) => route !== 'feed')) {
    expect(body?.context).toMatchObject({ client: { hl: 'en', gl: 'US', clientName: 'WEB' } });
    expect(headers).toMatchObject({ cookie: 'SOCS=CAE=', 'accept-language': 'en-US,en;q=0.9' });
  }
  expect(replay.callsTo('browse')[0]?.path).toContain('$fields=header,metadata,');
  await source.resolve(handleIdentifier('BELLROCKLIGHT'), { signal });
  expect(replay.callsTo('resolve')[0]?.body?.url).toBe('https://www.youtube.com/@BELLROCKLIGHT');
});

describe('a record', () => {
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

  it('of a channel whose redirects form a circle is an error', async () => {
    const navigate = (browseId: string) => ({
      onResponseReceivedActions: [{ navigateAction: { endpoint: { browseEndpoint: { browseId } } } }],
    });
    for (const target of [GAME, MOVED, GAME, MOVED]) replay.misbehave('browse', respondWithJson(navigate(target)), 1);
    await expect(load(MOVED)).rejects.toMatchObject({ code: 'upstream_invalid' });
    expect(replay.callsTo('browse')).toHaveLength(4);
  });

  it('never combines a page with the panel of another channel', async () => {
    replay.misbehave('browse', respondWithJson(ownResponse('browseId', 'UCreplayQuiet00000000007')));
    const { channel } = await load(LIGHTHOUSE);
    expect(channel).toMatchObject({ channelId: 'UCreplayQuiet00000000007', viewCount: '1', links: [] });
  });

  it('has nothing of a panel of another channel, however often YouTube sends it', async () => {
    const panel = { channelId: 'UCreplayOther00000000001', country: 'Japan', viewCountText: '5 views' };
    replay.misbehave('about', respondWithJson({ onResponseReceivedEndpoints: [{ aboutChannelViewModel: panel }] }));
    for (const channelId of [LIGHTHOUSE, HEADER_TOKEN, GAME]) {
      const { channel, isComplete } = await load(channelId);
      expect(channel, channelId).toMatchObject({ channelId, country: null, viewCount: null, links: null });
      expect(isComplete).toBe(false);
    }
  });

  it('does not wait for a panel that never arrives', async () => {
    const clock = createManualClock();
    const source = createTestYoutubeSource(replay.origin, { clock });
    replay.misbehave('about', FAULTS.hangBeforeHeaders);
    const loading = source.getChannel(LIGHTHOUSE, { signal });
    await clock.passTimer(3_000);
    const { channel, missing } = await loading;
    expect([channel.title, missing.toSorted()]).toEqual([
      'Bell Rock Light',
      ['country', 'links', 'videoCount', 'viewCount'],
    ]);
  });

  it('has the panel of the token in the page if the built token leads to none', async () => {
    for (const listener of [respondWithStatus(404), FAULTS.closeMidBody]) {
      replay.misbehave('about', listener, 1);
      expect(await load(HEADER_TOKEN)).toMatchObject({ isComplete: true, channel: { viewCount: '99' } });
    }
  });

  it.each([
    ['a list', []],
    ['a header without a title', { header: { c4TabbedHeaderRenderer: { channelId: GAME } } }],
    ['a title without an ID', { metadata: { channelMetadataRenderer: { title: 'T' } } }],
  ])('is an error other than "not found" if the page is %s', async (_what, page) => {
    replay.misbehave('browse', respondWithJson(page));
    replay.misbehave('about', respondWithJson({}));
    await expect(load(GAME)).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

  it('is an error if the status of an error is a deep list', async () => {
    const status = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    replay.misbehave('browse', respondWithStatus(404, {}, `{"error":{"status":${status}}}`));
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

  it.each([
    ['another page of the site', redirectTo('https://www.youtube.com/@BellRockLight/about')],
    ['without data', respondWithStatus(200, {}, '<script>ytcfg.set({})</script>')],
    ['with cut data', respondWithStatus(200, {}, 'var ytInitialData = {"a": "')],
    ['without a channel', respondWithStatus(200, {}, 'window["ytInitialData"] = {};</script>')],
    ['404', respondWithHtml(404)],
  ])('is an error if calls are refused and the HTML page is %s', async (_name, listener) => {
    for (const route of ['browse', 'about'] as const) replay.misbehave(route, REFUSED);
    replay.misbehave('about-page', listener);
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'upstream_invalid' });
  });
});

/** "/@Vilebrequin" leads to "/vilebrequin", which YouTube's resolver does not know, although the channel exists (2026). */
it('a handle that YouTube’s resolver loses is found by one search for this very handle', async () => {
  const channelRenderer = (channelId: string, handle: string) => ({
    channelRenderer: { channelId, title: { simpleText: 'A channel' }, subscriberCountText: { simpleText: handle } },
  });
  const lost = createTestYoutubeSource(replay.origin, { searchesForLostHandles: true });
  const find = (...contents: object[]) => {
    replay.behave();
    replay.misbehave('resolve', respondWithJson({ endpoint: { urlEndpoint: { url: '/vilebrequin' } } }), 1);
    replay.misbehave('resolve', NOT_FOUND);
    const primaryContents = { sectionListRenderer: { contents: [{ itemSectionRenderer: { contents } }] } };
    replay.misbehave('search', respondWithJson({ contents: { twoColumnSearchResultsRenderer: { primaryContents } } }));
    return lost.resolve(handleIdentifier('Vilebrequin'), { signal });
  };
  const other = channelRenderer('UCreplayOther00000000001', '@vilebrequin2');
  const channelId = 'UCreplayVilebrequin00001';
  expect(await find(other, channelRenderer(channelId, '@Vilebrequin'))).toEqual({ channelId });
  await expect(find(other)).rejects.toMatchObject({ code: 'upstream_invalid', scope: 'inconclusive' });
});

describe('no such channel', () => {
  it('follows from 404 NOT_FOUND that the whole page confirms', async () => {
    replay.misbehave('browse', NOT_FOUND);
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'channel_not_found' });
    expect(replay.callsTo('browse').map(({ path }) => path.includes('$fields'))).toEqual([true, false]);
  });

  it('does not follow from a 404 for a part of the page, or for the whole page once', async () => {
    replay.misbehave('browse', NOT_FOUND, 1);
    expect((await load(LIGHTHOUSE)).channel.title).toBe('Bell Rock Light');
    replay.misbehave('browse', respondWithJson({}), 1);
    replay.misbehave('browse', NOT_FOUND, 1);
    expect((await load(LIGHTHOUSE)).channel.title).toBe('Bell Rock Light');
  });

  it.each([
    ['has another reason', jsonError(404, 'UNIMPLEMENTED'), 'upstream_invalid'],
    ['fails', respondWithStatus(500), 'upstream_unavailable'],
    ['is refused', respondWithStatus(429), 'upstream_unavailable'],
  ])('does not follow from a 404 if the whole page %s', async (_what, listener, code) => {
    replay.misbehave('browse', NOT_FOUND, 1);
    replay.misbehave('browse', listener);
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code });
  });

  const GONE = [
    'This channel does not exist.',
    "This channel doesn't exist.",
    'This channel doesn’t exist.',
    'This channel no longer exists.',
    'This channel is no longer available.',
    "This channel isn't available anymore.",
    'This channel has been deleted.',
    'Account closed',
    'This account has been suspended.',
    'This account has been terminated due to multiple third-party claims of copyright infringement.',
    'This channel was removed because it violated our Community Guidelines.',
  ];
  const UNKNOWN = [
    'This channel is not available in your country.',
    "This channel isn't available.",
    'This video was removed by the user.',
    'Something went wrong.',
  ];
  it('follows from some alerts, without waiting for the panel, and not from others', async () => {
    replay.misbehave('about', FAULTS.hangBeforeHeaders);
    const codeOf = async (text: string, kind = 'alertRenderer', type = 'ERROR') => {
      replay.misbehave('browse', respondWithJson({ alerts: [{ [kind]: { type, text: { runs: [{ text }] } } }] }), 1);
      return load(LIGHTHOUSE).catch(({ code, scope }) => [text, code, scope]);
    };
    for (const text of GONE) expect(await codeOf(text)).toEqual([text, 'channel_not_found', expect.anything()]);
    for (const text of UNKNOWN) expect(await codeOf(text)).toEqual([text, 'upstream_unavailable', 'inconclusive']);
    for (const [kind, type] of [
      ['alertWithButtonRenderer', 'ERROR'],
      ['alertViewModel', 'ALERT_TYPE_ERROR'],
    ])
      expect(await codeOf('Account closed', kind, type)).toContain('channel_not_found');
  });

  it('does not follow from a notice on a healthy page', async () => {
    const notice = { alertRenderer: { type: 'INFO', text: { simpleText: 'Unavailable videos are removed.' } } };
    replay.misbehave('browse', respondWithJson({ ...ownResponse('browseId', LIGHTHOUSE), alerts: [notice] }));
    expect((await load(LIGHTHOUSE)).channel.title).toBe('Bell Rock Light');
  });
});
