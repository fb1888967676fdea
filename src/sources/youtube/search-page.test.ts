import { expect, it } from 'vitest';
import { respondWithJson } from '../../../test/helpers/fake-upstream.ts';
import { startReplayedSource } from '../../../test/helpers/youtube-source.ts';

const CHANNEL = 'LOCKUP_CONTENT_TYPE_CHANNEL';
const HIT = { channelId: 'UCreplayLighthouse000001', title: { simpleText: 'Bell Rock Light' } };
const OTHER_ID = 'UCreplayQuiet00000000007';

/** The hits in a response of YouTube. */
async function hitsIn(response: object) {
  const { replay, source } = await startReplayedSource();
  replay.misbehave('search', respondWithJson(response));
  const hits = await source.search('light', { signal: new AbortController().signal });
  expect(replay.callsTo('search')).toHaveLength(1);
  return hits;
}

const titlesIn = async (response: object) => (await hitsIn(response)).map(({ title }) => title);

const section = (...contents: object[]) => ({ itemSectionRenderer: { contents } });
const firstPage = (...contents: object[]) => ({
  contents: { twoColumnSearchResultsRenderer: { primaryContents: { sectionListRenderer: { contents } } } },
});
const lockup = (contentId: string, title: string, contentType = CHANNEL, more = {}) => ({
  lockupViewModel: {
    contentId,
    contentType,
    metadata: { lockupMetadataViewModel: { title: { content: title } } },
    ...more,
  },
});
const sources = (url: string) => ({ image: { sources: [{ url, width: 88, height: 88 }] } });

it('a search has the channels among its items in their order, each once, without unreadable ones', async () => {
  const contents = [
    lockup('PL000000000000000000000000', 'A playlist', 'LOCKUP_CONTENT_TYPE_PLAYLIST'),
    lockup(OTHER_ID, 'Quiet'),
    { channelRenderer: HIT },
    lockup(HIT.channelId, 'Bell Rock Light, again'),
    { channelRenderer: { ...HIT, channelId: 'UCreplayUnreadable000001', title: {} } },
    { videoRenderer: {} },
  ];
  expect(await titlesIn(firstPage(section(...contents)))).toEqual(['Quiet', 'Bell Rock Light']);
});

it.each<[string, (items: object[]) => object]>([
  ['in shelves', (items) => firstPage(section({ shelfRenderer: { content: { verticalListRenderer: { items } } } }))],
  ['in containers with other names', (items) => ({ contents: { grid: { rows: [{ cells: items }] } } })],
  ['directly in the list', (items) => firstPage(...items)],
])('channels are found %s, as lockups and as channel renderers', async (_where, wrap) => {
  for (const item of [lockup(HIT.channelId, 'Bell Rock Light'), { channelRenderer: HIT }]) {
    expect(await titlesIn(wrap([item]))).toEqual(['Bell Rock Light']);
  }
});

const avatarViewModel = sources('//yt3.ggpht.com/abc=s88');
it.each<[string, object, string]>([
  ['a decorated avatar', { decoratedAvatarViewModel: { avatar: { avatarViewModel } } }, 'present'],
  ['an avatar', { avatarViewModel }, 'present'],
  ['a thumbnail', { thumbnailViewModel: sources('https://yt3.googleusercontent.com/abc=s176') }, 'present'],
  ['the default image', { avatarViewModel: sources('//yt3.ggpht.com/a/default-user=s88') }, 'absent'],
  ['nothing', {}, 'unknown'],
])('the avatar of a channel with %s is read', async (_what, contentImage, avatar) => {
  const item = lockup(HIT.channelId, 'Bell Rock Light', CHANNEL, { contentImage });
  expect(await hitsIn(firstPage(section(item)))).toMatchObject([{ avatar }]);
});

it('handle and counts may be one text', async () => {
  const content = '\u200e\u2068@BellRockLight\u2069 • \u2068620K subscribers\u2069 • 1.2K videos';
  const metadata = { contentMetadataViewModel: { metadataRows: [{ metadataParts: [{ text: { content } }] }] } };
  const item = lockup(OTHER_ID, 'T', CHANNEL, { metadata: { lockupMetadataViewModel: { title: 'T', metadata } } });
  const renderer = { ...HIT, subscriberCountText: { content } };
  const values = { customUrl: '@BellRockLight', subscriberCount: '620000', videoCount: '1200' };
  expect(await hitsIn(firstPage(section(item, { channelRenderer: renderer })))).toMatchObject([values, values]);
});

const message = (text: string) => ({ messageRenderer: { text: { simpleText: text } } });
const promo = (text: string) => ({ backgroundPromoRenderer: { title: { runs: [{ text }] } } });
const OTHERS = [
  lockup('PL000000000000000000000000', 'A playlist', 'LOCKUP_CONTENT_TYPE_PLAYLIST'),
  { videoRenderer: {} },
  { didYouMeanRenderer: { correctedQuery: { runs: [{ text: 'night' }] } } },
  { adSlotRenderer: { fulfillmentContent: { ads: [{ crown: {} }] } } },
];

it.each<[string, object]>([
  ['without a list, with no estimated results', { estimatedResults: '0' }],
  ['without a list, with a message', { contents: { sectionListRenderer: { contents: [message('No results')] } } }],
  ['with a list that has the notice only', firstPage(section(promo('No results found')))],
  ['with an empty list', firstPage()],
  ['with a message beside unknown items', firstPage(section(message('No results found'), { crown: {} }))],
])('a search %s is an empty list', async (_what, response) => {
  expect(await hitsIn(response)).toEqual([]);
});

it.each<[string, object]>([
  ['without a list', { header: {}, topbar: {} }],
  ['without a list, with estimated results', { estimatedResults: '149598' }],
  ['without a list, with another message', { contents: message('Sign in to confirm you’re not a bot') }],
  ['with other results, suggestions and advertisements only', firstPage(section(...OTHERS))],
  ['with items of an unknown kind', firstPage(section({ channelCardViewModel: { id: HIT.channelId } }))],
  ['with unknown items that are called so', firstPage(section({ crown: { title: 'No results found' } }))],
  ['with another message in its list', firstPage(section(message('Sign in to confirm you’re not a bot')))],
  ['with lockups without a title', firstPage(section(lockup(HIT.channelId, '')))],
  ['with lockups of an unknown type that have a channel ID', firstPage(section(lockup(HIT.channelId, '', 'NEW')))],
  ['with channels in an unknown form', firstPage(section({ channelRenderer: { id: HIT.channelId } }))],
])('a search %s is an error, not an empty list', async (_what, response) => {
  await expect(hitsIn(response)).rejects.toMatchObject({ code: 'upstream_invalid' });
});
