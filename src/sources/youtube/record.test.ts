import { describe, expect, it } from 'vitest';
import { readAbout, readPage as readPageOf } from './page.ts';
import { buildRecord, showsChannel } from './record.ts';

const ID = 'UCreplayLighthouse000001';

const readPage = (page: object) => readPageOf(page as Parameters<typeof readPageOf>[0], ID);

const METADATA = { channelMetadataRenderer: { externalId: ID, title: 'T' } };

const pageHeader = (parts: object) => ({ pageHeaderRenderer: { content: { pageHeaderViewModel: parts } } });
const titled = (content: string) => ({ title: { dynamicTextViewModel: { text: { content } } } });
/** The texts of a header in one row. */
const rows = (...texts: string[]) => {
  const metadataParts = texts.map((content) => ({ text: { content } }));
  return { metadata: { contentMetadataViewModel: { metadataRows: [{ metadataParts }] } } };
};
const panel = (values: object) =>
  readAbout({ onResponseReceivedEndpoints: [{ aboutChannelViewModel: { channelId: ID, ...values } }] });

const PANEL = panel({ viewCountText: '2,530 views', videoCountText: '401 videos' });

it.each<[string, object, object]>([
  ['a country in another language', { country: 'Großbritannien' }, { country: null }],
  ['a place without a code', { country: 'Kosovo' }, { country: null }],
  ['a Turkish count', { videoCountText: '12 B video' }, { videoCount: null }],
  ['a German date', { joinedDateText: 'Beigetreten: 01.02.2015' }, { publishedAt: null }],
])('%s in a panel is not read as another value, and the record is complete', (_what, values, expected) => {
  const page = readPage({ header: pageHeader({}), metadata: METADATA });
  const about = panel({ description: '', joinedDateText: 'Joined Feb 1, 2015', viewCountText: '1 view', ...values });
  const found = buildRecord(ID, page, about);
  expect(found).toMatchObject({ isComplete: true, channel: { viewCount: '1', ...expected } });
  expect(found?.missing).toEqual('country' in values ? [] : Object.keys(expected));
});

it.each([
  ['No videos', '0', false],
  ['999 videos', '999', false],
  // The header rounds from 1,000 on: "1K videos" may be 1,049.
  ['1K videos', '1000', true],
  ['1.1K videos', '1100', true],
])('"%s" in a header without its panel is kept, and is missing if it may be rounded', (text, videoCount, isMissing) => {
  const page = readPage({ header: pageHeader({ ...titled('T'), ...rows(text) }) });
  const found = buildRecord(ID, page, 'lost');
  expect([found?.channel.videoCount, found?.missing.includes('videoCount')]).toEqual([videoCount, isMissing]);
  expect(buildRecord(ID, page, PANEL)).toMatchObject({ channel: { videoCount: '401' }, missing: [] });
});

it('a channel that YouTube generates is complete without the date and the views, but not without panel or header', () => {
  const generated = (parts: object = {}) =>
    readPage({ metadata: { channelMetadataRenderer: { externalId: ID, title: 'Bell Rock - Topic' } }, ...parts });
  const header = pageHeader(rows('1.2K videos'));
  const whole = buildRecord(ID, generated({ header }), panel({ description: 'D' }));
  expect(whole).toMatchObject({ isComplete: true, missing: [], channel: { videoCount: '1200', links: [] } });
  expect(buildRecord(ID, generated({ header }), [])?.missing).toContain('viewCount');
  expect(buildRecord(ID, generated(), panel({ description: 'D' }))?.missing).toEqual(['banner']);
});

it('a page without metadata shows a channel by its header, unless it has an error alert', () => {
  const header = pageHeader(titled('News'));
  const alerts = [{ alertRenderer: { type: 'ERROR', text: { simpleText: 'Something is wrong.' } } }];
  expect(buildRecord(ID, readPage({ header }), [])?.channel).toMatchObject({
    channelId: ID,
    title: 'News',
    links: null,
  });
  expect(showsChannel(readPage({ header, alerts }))).toBe(false);
  expect(showsChannel(readPage({ header, alerts, metadata: METADATA }))).toBe(true);
});

describe('a header', () => {
  const fieldsOf = (header: object, metadata: object = METADATA) =>
    buildRecord(ID, readPage({ metadata, header }), [])?.channel ?? expect.fail('no record');

  it.each([
    // Marks for the direction of text, as YouTube writes joined texts (2026-03).
    [['\u200e\u2068@a\u2069 • \u20681.2K subscribers\u2069'], { customUrl: '@a', subscriberCount: '1200' }],
    [['@日本語', 'No videos'], { customUrl: '@日本語', subscriberCount: null, videoCount: '0' }],
    [['1 234 subscribers', '12 B video'], { customUrl: null, subscriberCount: null, videoCount: null }],
  ])('has texts that are read if they are English: %j', (texts, values) => {
    expect(fieldsOf(pageHeader(rows(...texts)))).toMatchObject(values);
  });

  it('of another handle has nothing for this channel', () => {
    const metadata = {
      channelMetadataRenderer: { ...METADATA.channelMetadataRenderer, vanityChannelUrl: 'http://www.youtube.com/@own' },
    };
    const countsBeside = (handle: string) =>
      fieldsOf(pageHeader(rows(handle, '99M subscribers', '7 videos')), metadata);
    expect(countsBeside('@Another')).toMatchObject({ subscriberCount: null, videoCount: null });
    expect(countsBeside('@OWN')).toMatchObject({ subscriberCount: '99000000', videoCount: '7' });
  });

  it('is not read if a page has another one too, also an empty one or one of another kind', () => {
    const own = pageHeader({ ...titled('T'), ...rows('7 videos') });
    const others = [
      pageHeader({}),
      { c4TabbedHeaderRenderer: {} },
      pageHeader({ ...titled('T'), ...rows('8 videos') }),
    ];
    for (const other of others) expect(fieldsOf({ own, other }).videoCount).toBeNull();
    expect(fieldsOf({ own, other: own }).videoCount).toBe('7');
  });

  it('has the first one of a list of sizes as its image, and a title of bounded length', () => {
    const sources = ['https://yt3.ggpht.com/a=w1060', 'https://yt3.googleusercontent.com/a=w2560'];
    const banner = { imageBannerViewModel: { image: { sources: sources.map((url) => ({ url })) } } };
    const long = { channelMetadataRenderer: { externalId: ID, title: 'x'.repeat(30_000) } };
    const fields = fieldsOf(pageHeader({ ...titled('T'), banner }), long);
    expect(fields).toMatchObject({ title: 'T', banner: { key: 'https://yt3.ggpht.com/a' } });
  });
});
