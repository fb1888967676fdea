import { describe, expect, it } from 'vitest';
import { readPage, readPanel } from './readings.ts';
import { buildRecord, showsChannel } from './record.ts';

const ID = 'UCreplayLighthouse000001';

const METADATA = { channelMetadataRenderer: { externalId: ID, title: 'T' } };

const pageHeader = (parts: object) => ({ pageHeaderRenderer: { content: { pageHeaderViewModel: parts } } });
const titled = (content: string) => ({ title: { dynamicTextViewModel: { text: { content } } } });
/** The texts of a header in one row. */
const rows = (...texts: string[]) => {
  const metadataParts = texts.map((content) => ({ text: { content } }));
  return { metadata: { contentMetadataViewModel: { metadataRows: [{ metadataParts }] } } };
};
const panel = (values: object) =>
  readPanel({ onResponseReceivedEndpoints: [{ aboutChannelViewModel: { channelId: ID, ...values } }] });

/** Texts that can be the same in English and in the page's language. */
const PANEL = panel({
  description: 'D',
  country: 'Georgia',
  subscriberCountText: '1.2K subscribers',
  viewCountText: '2,530 views',
  videoCountText: '401 videos',
  joinedDateText: { content: 'Joined Feb 1, 2015' },
});

describe('a record from a page in', () => {
  function recordIn(requestLanguage: string) {
    const config = { webSearchboxConfig: { requestLanguage } };
    const topbar = { desktopTopbarRenderer: { searchbox: { fusionSearchboxRenderer: { config } } } };
    const page = readPage({ header: pageHeader(rows('33 subscribers')), metadata: METADATA, topbar });
    return buildRecord(ID, page, PANEL)?.channel;
  }

  it.each(['en', 'en-GB', 'EN_us'])('English (%s) has all fields', (language) => {
    const counts = { subscriberCount: '1200', viewCount: '2530', videoCount: '401' };
    expect(recordIn(language)).toMatchObject({ country: 'GE', ...counts, publishedAt: '2015-02-01T00:00:00Z' });
  });

  it.each(['de', 'fr-CA', 'enm'])('another language (%s) has the fields that do not depend on it', (language) => {
    // The panel's count of subscribers is abbreviated, the header's is exact.
    const counts = { subscriberCount: '33', viewCount: null, videoCount: '401' };
    expect(recordIn(language)).toMatchObject({ title: 'T', description: 'D', country: null, ...counts });
  });

  it('a language that only its sign-in links name is recognized', () => {
    const isForeign = (url: string) =>
      readPage({ header: { actions: [{ navigationEndpoint: { commandMetadata: { url } } }] } }).isForeign;
    expect(isForeign('https://accounts.google.com/ServiceLogin?service=youtube&hl=et')).toBe(true);
    expect(isForeign('https://accounts.google.com/ServiceLogin?service=youtube&hl=en')).toBe(false);
    expect(isForeign('https://example.org/ServiceLogin?hl=et')).toBe(false);
  });
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
  expect(buildRecord(ID, generated({ header }), 'none')?.missing).toContain('viewCount');
  expect(buildRecord(ID, generated(), panel({ description: 'D' }))?.missing).toEqual(['banner']);
});

it('a page without metadata shows a channel by its header, unless it has an error alert', () => {
  const header = pageHeader(titled('News'));
  const alerts = [{ alertRenderer: { type: 'ERROR', text: { simpleText: 'Something is wrong.' } } }];
  expect(buildRecord(ID, readPage({ header }))?.channel).toMatchObject({ channelId: ID, title: 'News', links: null });
  expect(showsChannel(readPage({ header, alerts }))).toBe(false);
  expect(showsChannel(readPage({ header, alerts, metadata: METADATA }))).toBe(true);
});

describe('a header', () => {
  const fieldsOf = (header: object, metadata: object = METADATA) =>
    buildRecord(ID, readPage({ metadata, header }))?.channel ?? expect.fail('no record');

  it.each([
    // Marks for the direction of text, as upstream writes joined texts (2026-03).
    [['\u200e\u2068@a\u2069 • \u20681.2K subscribers\u2069'], { customUrl: '@a', subscriberCount: '1200' }],
    [['@日本語', 'No videos'], { customUrl: '@日本語', subscriberCount: null, videoCount: '0' }],
    [['1 234 subscribers', '12 B video'], { customUrl: null, subscriberCount: null, videoCount: null }],
  ])('has texts that are read if they are English: %j', (texts, values) => {
    expect(fieldsOf(pageHeader(rows(...texts)))).toMatchObject(values);
  });

  it('has no counts for this channel beside another handle', () => {
    const metadata = {
      channelMetadataRenderer: { ...METADATA.channelMetadataRenderer, vanityChannelUrl: 'http://www.youtube.com/@own' },
    };
    const countsBeside = (handle: string) =>
      fieldsOf(pageHeader({ card: rows(handle, '99M subscribers', '7 videos') }), metadata);
    expect(countsBeside('@Another')).toMatchObject({ subscriberCount: null, videoCount: null });
    expect(countsBeside('@OWN')).toMatchObject({ subscriberCount: '99000000', videoCount: '7' });
  });

  it('has the first one of a list of sizes as its image, and a title of bounded length', () => {
    const sources = ['https://yt3.ggpht.com/a=w1060', 'https://yt3.googleusercontent.com/a=w2560'];
    const banner = { imageBannerViewModel: { image: { sources: sources.map((url) => ({ url })) } } };
    const long = { channelMetadataRenderer: { externalId: ID, title: 'x'.repeat(30_000) } };
    const fields = fieldsOf(pageHeader({ ...titled('T'), banner }), long);
    expect(fields).toMatchObject({ title: 'T', banner: { key: 'https://yt3.ggpht.com/a' } });
  });
});
