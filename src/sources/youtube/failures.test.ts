import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  FAULTS,
  redirectTo,
  respondWithHtml,
  respondWithJson,
  respondWithStatus,
} from '../../../test/helpers/fake-upstream.ts';
import { handleRef } from '../../../test/helpers/handle.ts';
import { ownResponse } from '../../../test/helpers/replay-responses.ts';
import type { ReplayServer } from '../../../test/helpers/replay-server.ts';
import {
  createTestYoutubeSource,
  startReplayedSource,
  type YoutubeSource,
} from '../../../test/helpers/youtube-source.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const GAME = 'UCreplayGameTopic0000006';

let replay: ReplayServer;
let source: YoutubeSource;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ replay, source } = await startReplayedSource());
});

const load = (channelId: string) => source.getChannel(channelId, { signal });
const resolveHandle = (name: string) => source.resolve(handleRef(name), { signal });

/** HTTP 400 with this status text, which says nothing about the channel. */
function respondWithRefusal(status: string) {
  return respondWithJson({ error: { code: 400, status } }, 400);
}

it.each([
  ['a list', []],
  ['null', null],
  ['a header without a title', { header: { c4TabbedHeaderRenderer: { channelId: GAME } } }],
  ['a title without an ID', { metadata: { channelMetadataRenderer: { title: 'T' } } }],
])('a page is an error other than "not found" if it is %s', async (_what, page) => {
  replay.misbehave('browse', respondWithJson(page));
  replay.misbehave('about', respondWithJson({}));
  await expect(load(GAME)).rejects.toMatchObject({ code: 'upstream_invalid' });
});

/** "/@Vilebrequin" leads to "/vilebrequin", which YouTube's resolver does not know, although the channel exists (2026). */
describe('a handle that YouTube’s resolver loses', () => {
  const EXISTING = 'UCreplayVilebrequin00001';

  function channelRenderer(channelId: string, handle: string) {
    const texts = { title: { simpleText: 'A channel' }, subscriberCountText: { simpleText: handle } };
    return { channelRenderer: { channelId, ...texts } };
  }

  function respondWithHits(...items: object[]) {
    const contents = [{ itemSectionRenderer: { contents: items } }];
    const primaryContents = { sectionListRenderer: { contents } };
    return respondWithJson({ contents: { twoColumnSearchResultsRenderer: { primaryContents } } });
  }

  function resolveLost(searchesForLostHandles: boolean) {
    const lost = createTestYoutubeSource(replay.origin, { searchesForLostHandles });
    onTestFinished(lost.close);
    return lost.resolve(handleRef('Vilebrequin'), { signal });
  }

  beforeEach(() => {
    replay.misbehave('resolve', respondWithJson({ endpoint: { urlEndpoint: { url: '/vilebrequin' } } }), 1);
    replay.misbehave('resolve', respondWithJson({ error: { code: 404, status: 'NOT_FOUND' } }, 404));
  });

  it('is not "no such channel", so that the next source is called', async () => {
    await expect(resolveLost(false)).rejects.toMatchObject({ code: 'upstream_invalid', scope: 'answer' });
    expect(replay.callsTo('search')).toEqual([]);
  });

  it('is found by one search if there is no other source', async () => {
    const hits = [
      channelRenderer('UCreplayOther00000000001', '@vilebrequin2'),
      channelRenderer(EXISTING, '@Vilebrequin'),
    ];
    replay.misbehave('search', respondWithHits(...hits));
    expect(await resolveLost(true)).toEqual({ channelId: EXISTING });
    expect(replay.callsTo('search').map(({ body }) => body?.query)).toEqual(['@Vilebrequin']);
  });

  it('is never another channel', async () => {
    replay.misbehave('search', respondWithHits(channelRenderer('UCreplayOther00000000001', '@vilebrequin2')));
    await expect(resolveLost(true)).rejects.toMatchObject({ code: 'upstream_invalid', scope: 'answer' });
  });

  it('does not exist if it is unknown without a hop', async () => {
    replay.behave();
    await expect(resolveLost(true)).rejects.toMatchObject({ code: 'channel_not_found' });
    expect(replay.callsTo('search')).toEqual([]);
  });
});

describe('calls that YouTube refuses, from an address that it accepts', () => {
  beforeEach(async () => {
    ({ replay, source } = await startReplayedSource({ hasAboutPages: true }));
  });

  const refusals = [400, 401].map(
    (code) => [code, respondWithJson({ error: { code, status: 'REFUSED' } }, code)] as const,
  );

  it.each(refusals)('with %i: the record is read from the HTML page of the channel', async (_status, listener) => {
    const usual = await load(LIGHTHOUSE);
    for (const route of ['browse', 'about'] as const) replay.misbehave(route, listener);
    expect(await load(LIGHTHOUSE)).toEqual(usual);
    expect(usual.channel).toMatchObject({ country: expect.any(String), viewCount: expect.any(String) });
    expect(replay.callsTo('about-page')).toHaveLength(1);
  });

  it.each([
    ['429', respondWithStatus(429), 'upstream_unavailable'],
    ['a consent page', redirectTo('https://consent.youtube.com/m?continue=x'), 'upstream_unavailable'],
    ['another page of the site', redirectTo('https://www.youtube.com/@BellRockLight/about'), 'upstream_invalid'],
    ['a captcha', respondWithHtml(), 'upstream_unavailable'],
    ['a page without data', respondWithStatus(200, {}, '<script>ytcfg.set({})</script>'), 'upstream_invalid'],
    ['data that is no JSON', respondWithStatus(200, {}, 'var ytInitialData = {"a": ;</script>'), 'upstream_invalid'],
    ['cut data', respondWithStatus(200, {}, 'var ytInitialData = {"a": "'), 'upstream_invalid'],
    ['no channel', respondWithStatus(200, {}, 'window["ytInitialData"] = {};</script>'), 'upstream_invalid'],
    ['404', respondWithHtml(404), 'upstream_invalid'],
  ] as const)('are an error if the HTML page is %s', async (_name, listener, code) => {
    replay.misbehave('browse', respondWithRefusal('INVALID_ARGUMENT'));
    replay.misbehave('about', respondWithRefusal('INVALID_ARGUMENT'));
    replay.misbehave('about-page', listener);
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code });
  });

  it('do not hide that there is no such channel', async () => {
    for (const route of ['browse', 'about'] as const) replay.misbehave(route, respondWithRefusal('INVALID_ARGUMENT'));
    for (const channelId of ['UCreplayTerminated000010', 'UCreplayUnknown000000000']) {
      await expect(load(channelId)).rejects.toMatchObject({ code: 'channel_not_found' });
    }
  });

  it('follow a page that redirects to another channel', async () => {
    for (const route of ['browse', 'about'] as const) replay.misbehave(route, respondWithRefusal('INVALID_ARGUMENT'));
    replay.misbehave('about-page', redirectTo(`https://www.youtube.com/channel/${LIGHTHOUSE}/about?ucbcb=1`), 1);
    expect((await load(GAME)).channel.channelId).toBe(LIGHTHOUSE);
    replay.misbehave('about-page', redirectTo(`https://www.youtube.com/channel/${GAME}/about`));
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

  it('are not made in another way if the address is refused', async () => {
    replay.misbehave('all', respondWithStatus(429));
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(replay.callsTo('about-page')).toEqual([]);
  });
});

describe('no such channel', () => {
  const NOT_FOUND = respondWithJson({ error: { code: 404, status: 'NOT_FOUND' } }, 404);

  it('does not follow from a 404 with another reason', async () => {
    replay.misbehave('all', respondWithJson({ error: { code: 404, status: 'UNIMPLEMENTED' } }, 404));
    await expect(load(GAME)).rejects.toMatchObject({ code: 'upstream_invalid' });
    await expect(resolveHandle('BellRockLight')).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

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
    ['fails', respondWithStatus(500), 'upstream_unavailable'],
    ['is refused', respondWithRefusal('INVALID_ARGUMENT'), 'upstream_invalid'],
    ['refuses this address', respondWithStatus(429), 'upstream_unavailable'],
  ])('does not follow from a 404 if the whole page %s', async (_what, listener, code) => {
    replay.misbehave('browse', NOT_FOUND, 1);
    replay.misbehave('browse', listener);
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code });
  });

  it('does not follow from a refusal of the field mask', async () => {
    replay.misbehave('browse', respondWithRefusal('INVALID_ARGUMENT'), 1);
    expect((await load(LIGHTHOUSE)).channel.title).toBe('Bell Rock Light');
  });

  it.each([
    'This channel does not exist.',
    "This channel doesn't exist.",
    'This channel doesn’t exist.',
    'This channel no longer exists.',
    'This channel is no longer available.',
    "This channel isn't available anymore.",
    'This channel has been deleted.',
    'This account has been closed.',
    'Account closed',
    'This account has been suspended.',
    'This account has been terminated due to multiple third-party claims of copyright infringement.',
    'This channel was removed because it violated our Community Guidelines.',
  ])('follows from the alert "%s"', async (text) => {
    replay.misbehave(
      'browse',
      respondWithJson({ alerts: [{ alertRenderer: { type: 'ERROR', text: { runs: [{ text }] } } }] }),
    );
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'channel_not_found' });
  });

  it.each([
    'This channel is not available in your country.',
    "This channel isn't available.",
    'This video was removed by the user.',
    'Something went wrong.',
  ])('does not follow from the alert "%s"', async (text) => {
    const alerts = [{ alertRenderer: { type: 'ERROR', text: { simpleText: text } } }];
    replay.misbehave('browse', respondWithJson({ alerts }));
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'upstream_unavailable', scope: 'answer' });
  });

  it.each([
    ['alertWithButtonRenderer', 'ERROR'],
    ['alertViewModel', 'ALERT_TYPE_ERROR'],
  ])('follows from an alert in a %s', async (name, type) => {
    const alerts = [{ [name]: { type, text: { content: 'This channel does not exist.' } } }];
    replay.misbehave('browse', respondWithJson({ alerts }));
    await expect(load(LIGHTHOUSE)).rejects.toMatchObject({ code: 'channel_not_found' });
  });

  it('is reported without waiting for the panel and without a further call', async () => {
    replay.misbehave('about', FAULTS.hangBeforeHeaders);
    await expect(load('UCreplayTerminated000010')).rejects.toMatchObject({ code: 'channel_not_found' });
    expect(replay.callsTo('browse')).toHaveLength(1);
  });

  it('does not follow from a notice on a healthy page', async () => {
    const notice = { alertRenderer: { type: 'INFO', text: { simpleText: 'Unavailable videos are removed.' } } };
    replay.misbehave('browse', respondWithJson({ ...ownResponse('browseId', LIGHTHOUSE), alerts: [notice] }));
    expect((await load(LIGHTHOUSE)).channel.title).toBe('Bell Rock Light');
  });
});
