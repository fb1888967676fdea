import { beforeEach, describe, expect, it } from 'vitest';
import { respondWithJson } from '../../../test/helpers/fake-upstream.ts';
import type { ReplayServer } from '../../../test/helpers/replay-server.ts';
import { startReplayedSource, type YoutubeSource } from '../../../test/helpers/youtube-source.ts';

const HIT = { channelId: 'UCreplayLighthouse000001', title: { simpleText: 'Bell Rock Light' } };
const OTHER_HIT = { channelId: 'UCreplayQuiet00000000007', title: { simpleText: 'Quiet' } };

let replay: ReplayServer;
let source: YoutubeSource;
const signal = new AbortController().signal;

beforeEach(async () => {
  ({ replay, source } = await startReplayedSource());
});

const search = () => source.search('light', 20, { signal });
const titlesOf = (page: Awaited<ReturnType<typeof search>>) => page.hits.map(({ title }) => title);

function section(...contents: object[]) {
  return { itemSectionRenderer: { contents } };
}

function firstPage(...contents: object[]) {
  return { contents: { twoColumnSearchResultsRenderer: { primaryContents: { sectionListRenderer: { contents } } } } };
}

function laterPage(...continuationItems: object[]) {
  return { onResponseReceivedCommands: [{ appendContinuationItemsAction: { continuationItems } }] };
}

const token = (text: string) => ({ continuationCommand: { token: text } });
const continuation = (text: string) => ({ continuationItemRenderer: { continuationEndpoint: token(text) } });

describe('a search', () => {
  it('is one page', async () => {
    expect(titlesOf(await search())).toEqual(['Bell Rock Light', 'Pebble Drop - Topic', 'ท่าเรือ']);
    expect(replay.callsTo('search')).toHaveLength(1);
  });

  it.each([
    ['an image', '//yt3.ggpht.com/ytc/abc=s88-c-k-c0x00ffffff-no-rj', 'present'],
    ['the default image', '//yt3.ggpht.com/a/default-user=s88', 'absent'],
    ['no URL', undefined, 'unknown'],
  ])('with %s as avatar is read', async (_what, url, avatar) => {
    const renderer = { ...HIT, thumbnail: { thumbnails: [{ url }] } };
    replay.misbehave('search', respondWithJson(firstPage(section({ channelRenderer: renderer }))));
    const [hit] = (await search()).hits;
    expect(hit?.avatar).toBe(avatar);
  });

  it('skips unreadable results if others are readable', async () => {
    const unreadable = { ...HIT, title: {} };
    const page = firstPage(
      section({ channelRenderer: unreadable }, { channelRenderer: OTHER_HIT }, { videoRenderer: {} }),
    );
    replay.misbehave('search', respondWithJson(page));
    expect(titlesOf(await search())).toEqual(['Quiet']);
  });
});

const CHANNEL = 'LOCKUP_CONTENT_TYPE_CHANNEL';
const lockup = (contentId: string, title: string, contentType = CHANNEL) => ({
  lockupViewModel: { contentId, contentType, metadata: { lockupMetadataViewModel: { title: { content: title } } } },
});

describe('a search whose results are lockups', () => {
  it('has the channels among them, in the order of the page, each once', async () => {
    const contents = [
      lockup('PL000000000000000000000000', 'A playlist', 'LOCKUP_CONTENT_TYPE_PLAYLIST'),
      lockup(OTHER_HIT.channelId, 'Quiet'),
      { channelRenderer: HIT },
      lockup(HIT.channelId, 'Bell Rock Light, again'),
    ];
    replay.misbehave('search', respondWithJson(firstPage(section(...contents))));
    expect(titlesOf(await search())).toEqual(['Quiet', 'Bell Rock Light']);
  });

  it.each<[string, (items: object[]) => object]>([
    ['in shelves', (items) => firstPage(section({ shelfRenderer: { content: { verticalListRenderer: { items } } } }))],
    [
      'each in another object',
      (items) => firstPage(section(...items.map((item) => ({ richItem: { content: item } })))),
    ],
    ['in containers with other names', (items) => ({ contents: { grid: { rows: [{ cells: items }] } } })],
    ['directly in the list', (items) => firstPage(...items)],
    ['on a later page', (items) => laterPage({ richSection: { content: items } })],
  ])('finds them %s, and as channel renderers too', async (_where, wrap) => {
    for (const item of [lockup(HIT.channelId, 'Bell Rock Light'), { channelRenderer: HIT }]) {
      replay.misbehave('search', respondWithJson(wrap([item])), 1);
      expect(titlesOf(await search())).toEqual(['Bell Rock Light']);
    }
  });

  it.each<[string, object]>([
    [
      'a decorated avatar',
      { decoratedAvatarViewModel: { avatar: { avatarViewModel: sources('//yt3.ggpht.com/abc=s88') } } },
    ],
    ['an avatar', { avatarViewModel: sources('//yt3.ggpht.com/abc=s88') }],
    ['a thumbnail', { thumbnailViewModel: sources('https://yt3.googleusercontent.com/abc=s176') }],
  ])('reads %s', async (_what, contentImage) => {
    const { lockupViewModel } = lockup(HIT.channelId, 'Bell Rock Light');
    const item = { lockupViewModel: { ...lockupViewModel, contentImage } };
    replay.misbehave('search', respondWithJson(firstPage(section(item))));
    expect((await search()).hits[0]?.avatar).toBe('present');
  });
});

describe('handle and counts of a result', () => {
  const { lockupViewModel } = lockup(HIT.channelId, 'Bell Rock Light');

  it.each([
    '@BellRockLight • 620K subscribers • 1.2K videos',
    '\u200e\u2068@BellRockLight\u2069 • \u2068620K subscribers\u2069 • 1.2K videos',
  ])('may be one text: %j', async (content) => {
    const metadata = { contentMetadataViewModel: { metadataRows: [{ metadataParts: [{ text: { content } }] }] } };
    const item = { ...lockupViewModel, metadata: { lockupMetadataViewModel: { title: 'T', metadata } } };
    const renderer = { ...OTHER_HIT, subscriberCountText: { content } };
    const page = firstPage(section({ lockupViewModel: item }, { channelRenderer: renderer }));
    replay.misbehave('search', respondWithJson(page));
    const values = { customUrl: '@BellRockLight', subscriberCount: '620000', videoCount: '1200' };
    expect((await search()).hits).toMatchObject([values, values]);
  });
});

function sources(url: string) {
  return { image: { sources: [{ url, width: 88, height: 88 }] } };
}

const message = (text: string) => ({ messageRenderer: { text: { simpleText: text } } });
const promo = (text: string) => ({ backgroundPromoRenderer: { title: { runs: [{ text }] } } });

const OTHERS = [
  lockup('PL000000000000000000000000', 'A playlist', 'LOCKUP_CONTENT_TYPE_PLAYLIST'),
  {
    shelfRenderer: {
      title: { runs: [{ text: 'Videos' }] },
      content: { verticalListRenderer: { items: [{ videoRenderer: {} }] } },
    },
  },
  { didYouMeanRenderer: { correctedQuery: { runs: [{ text: 'night' }] } } },
  { adSlotRenderer: { fulfillmentContent: { ads: [{ crown: {} }] } } },
];

describe('a first page of a search', () => {
  it.each<[string, object]>([
    ['without a list, with no estimated results', { estimatedResults: '0' }],
    ['without a list, with a number of estimated results', { estimatedResults: 0 }],
    ['without a list, with a message', { contents: { sectionListRenderer: { contents: [message('No results')] } } }],
    ['without a list, with a notice', { contents: promo('No results found') }],
    ['with a list that has the notice only', firstPage(section(promo('No results found')))],
    [
      'with a list that has the notice in a view model',
      firstPage(section({ emptyStateViewModel: { title: { content: 'No results found' } } })),
    ],
    ['with an empty list', firstPage()],
    ['with results of other kinds only', firstPage(section({ videoRenderer: {} }))],
    ['with other results, suggestions and advertisements only', firstPage(section(...OTHERS), continuation(''))],
    ['with a message beside unknown items', firstPage(section(message('No results found'), { crown: {} }))],
  ])('%s is an empty list', async (_what, response) => {
    replay.misbehave('search', respondWithJson(response));
    expect(await search()).toEqual({ hits: [] });
  });

  it.each<[string, object]>([
    ['without a list', { header: {}, topbar: {} }],
    ['without a list, with estimated results', { estimatedResults: '149598' }],
    ['without a list, with an empty estimate', { estimatedResults: '' }],
    ['without a list, with another message', { contents: message('Sign in to confirm you’re not a bot') }],
    ['with items of an unknown kind', firstPage(section({ channelCardViewModel: { id: HIT.channelId } }))],
    ['with unknown items that are called so', firstPage(section({ crown: { title: 'No results found' } }))],
    ['with unknown items beside a video', firstPage(section({ videoRenderer: {} }, { crown: {} }))],
    ['with unknown sections', firstPage({ crownSection: { contents: [{ crown: {} }] } })],
    ['with unknown items and the end of the list', firstPage(section({ crown: {} }, message('No more results')))],
    ['with another message in its list', firstPage(section(message('Sign in to confirm you’re not a bot')))],
    ['with lockups without a title', firstPage(section(lockup(HIT.channelId, '')))],
    ['with lockups without an ID', firstPage(section(lockup('', 'Bell Rock Light')))],
    ['with lockups of an unknown type that have a channel ID', firstPage(section(lockup(HIT.channelId, '', 'NEW')))],
    ['with channels in an unknown form', firstPage(section({ channelRenderer: { id: HIT.channelId } }))],
  ])('%s is an error, not an empty list', async (_what, response) => {
    replay.misbehave('search', respondWithJson(response));
    await expect(search()).rejects.toMatchObject({ code: 'upstream_invalid' });
  });
});
