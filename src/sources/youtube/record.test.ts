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

function pageIn(requestLanguage: string) {
  const config = { webSearchboxConfig: { requestLanguage } };
  return readPage({
    header: pageHeader(rows('33 subscribers')),
    metadata: METADATA,
    topbar: { desktopTopbarRenderer: { searchbox: { fusionSearchboxRenderer: { config } } } },
  });
}

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

function recordIn(language: string) {
  return buildRecord(ID, pageIn(language), PANEL)?.channel;
}

describe('a record', () => {
  it.each(['en', 'en-GB', 'EN_us'])('from a page in English (%s) has all fields', (language) => {
    expect(recordIn(language)).toMatchObject({
      country: 'GE',
      subscriberCount: '1200',
      viewCount: '2530',
      videoCount: '401',
      publishedAt: '2015-02-01T00:00:00Z',
    });
  });

  it.each(['de', 'fr-CA', 'tr', 'enm'])(
    'from a page in another language (%s) has the fields that do not depend on the language',
    (lang) => {
      expect(recordIn(lang)).toMatchObject({
        title: 'T',
        description: 'D',
        country: null,
        // The panel's count is abbreviated, the header's is exact.
        subscriberCount: '33',
        viewCount: null,
        videoCount: '401',
        publishedAt: null,
      });
    },
  );

  it('has bounded titles, texts and lists', () => {
    const long = 'x'.repeat(30_000);
    const page = readPage({
      metadata: { channelMetadataRenderer: { externalId: ID, title: long, description: long } },
      header: pageHeader(titled('T')),
    });
    const record = buildRecord(ID, page)?.channel;
    expect(record).toMatchObject({ title: 'T', description: null });
  });
});

describe('the number of videos in the header of a page without its panel', () => {
  const header = (content: string) => pageHeader({ ...titled('T'), ...rows(content) });

  it.each([
    ['No videos', '0', false],
    ['1 video', '1', false],
    ['999 videos', '999', false],
    // The header rounds from 1,000 on: "1K videos" may be 1,049.
    ['1K videos', '1000', true],
    ['1.1K videos', '1100', true],
    ['1,000 videos', '1000', true],
    ['1M videos', '1000000', true],
  ])('"%s" is kept, and is missing if it may be rounded', (text, videoCount, isMissing) => {
    const found = buildRecord(ID, readPage({ header: header(text) }), 'lost');
    expect(found?.channel.videoCount).toBe(videoCount);
    expect(found?.missing.includes('videoCount')).toBe(isMissing);
  });

  it('is exact if the panel has it', () => {
    const found = buildRecord(ID, readPage({ header: header('1K videos') }), PANEL);
    expect(found).toMatchObject({ channel: { videoCount: '401' }, missing: [], isComplete: true });
  });
});

describe('a channel that YouTube generates', () => {
  const generated = (parts: object = {}) =>
    readPage({ metadata: { channelMetadataRenderer: { externalId: ID, title: 'Bell Rock - Topic' } }, ...parts });
  const header = pageHeader(rows('1.2K videos'));
  const plain = panel({ description: 'D' });

  it('is complete without the date, the views and the exact number of videos', () => {
    const found = buildRecord(ID, generated({ header }), plain);
    expect(found).toMatchObject({ isComplete: true, missing: [], channel: { videoCount: '1200', links: [] } });
  });

  it('is incomplete without its panel or its header', () => {
    for (const about of ['lost', 'none'] as const) {
      expect(buildRecord(ID, generated({ header }), about)?.missing).toContain('viewCount');
    }
    expect(buildRecord(ID, generated(), plain)?.missing).toEqual(['banner']);
  });
});

describe('the language of a page', () => {
  it('is read from its sign-in links if the field mask removes it', () => {
    const link = (url: string) => ({ actions: [{ navigationEndpoint: { commandMetadata: { url } } }] });
    const signIn = 'https://accounts.google.com/ServiceLogin?service=youtube&hl=';
    const isForeign = (url: string) => readPage({ header: link(url) }).isForeign;
    expect(isForeign(`${signIn}et`)).toBe(true);
    expect(isForeign(`${signIn}en`)).toBe(false);
    expect(isForeign('https://example.org/ServiceLogin?hl=et')).toBe(false);
    expect(isForeign('https://accounts.google.com/ServiceLogin?service=youtube')).toBe(false);
  });
});

describe('a page without metadata', () => {
  const header = pageHeader(titled('News'));
  const alerts = [{ alertRenderer: { type: 'ERROR', text: { simpleText: 'Something is wrong.' } } }];
  const metadata = { channelMetadataRenderer: { title: 'News' } };

  it('is the page of the requested channel if its header has a title', () => {
    const page = readPage({ header });
    expect(buildRecord(ID, page)?.channel).toMatchObject({
      channelId: ID,
      title: 'News',
      links: null,
      banner: null,
      avatar: null,
    });
  });

  it('is no channel with an error alert, but with any other alert it is', () => {
    expect(showsChannel(readPage({ header, alerts }))).toBe(false);
    expect(showsChannel(readPage({ header, alerts, metadata }))).toBe(true);
    expect(showsChannel(readPage({ header, alerts: [{ alertRenderer: { type: 'INFO' } }] }))).toBe(true);
  });
});

describe('the rows of a page header', () => {
  const NOTHING = { customUrl: null, subscriberCount: null, videoCount: null };

  it.each([
    [['@a • 1.2K subscribers • 34 videos'], { customUrl: '@a', subscriberCount: '1200', videoCount: '34' }],
    // Marks for the direction of text, as upstream writes joined texts (2026-03).
    [['\u200e\u2068@a\u2069 • \u20681.2K subscribers\u2069'], { customUrl: '@a', subscriberCount: '1200' }],
    [['@日本語', 'No videos'], { customUrl: '@日本語', subscriberCount: null, videoCount: '0' }],
    [['1 234 subscribers', '5\u202f678 videos'], NOTHING],
    [['1,23 Mio. Abonnenten', '1.2K+ subscribers', '12 B video'], NOTHING],
    [[], NOTHING],
  ])('are read if they are English, and nothing is made up: %j', (texts, values) => {
    expect(
      buildRecord(ID, readPage({ metadata: METADATA, header: pageHeader(rows(...texts)) }))?.channel,
    ).toMatchObject(values);
  });
});

describe('an image', () => {
  const sources = (...urls: string[]) => urls.map((url) => ({ url }));

  it('is the first one in a list of its sizes, which may be on several hosts', () => {
    const urls = ['https://yt3.ggpht.com/a=w1060', 'https://yt3.googleusercontent.com/a=w2560'];
    const banner = { imageBannerViewModel: { image: { sources: sources(...urls) } } };
    const page = readPage({
      metadata: { channelMetadataRenderer: { externalId: ID, title: 'T', avatar: { thumbnails: sources(...urls) } } },
      header: pageHeader({ banner }),
    });
    const key = 'https://yt3.ggpht.com/a';
    expect(buildRecord(ID, page)?.channel).toMatchObject({ avatar: { key }, banner: { key } });
  });
});

describe('a part of a page that names another channel', () => {
  const metadata = {
    channelMetadataRenderer: { externalId: ID, title: 'T', vanityChannelUrl: 'http://www.youtube.com/@own' },
  };
  const fieldsOf = (page: object) => {
    const { channel } = buildRecord(ID, readPage({ metadata, ...page })) ?? expect.fail('no record');
    return channel;
  };
  it('is not read: the counts beside another handle', () => {
    const header = (handle: string) => pageHeader({ card: rows(handle, '99M subscribers', '7 videos') });
    expect(fieldsOf({ header: header('@Another') })).toMatchObject({ subscriberCount: null, videoCount: null });
    expect(fieldsOf({ header: header('@OWN') })).toMatchObject({ subscriberCount: '99000000', videoCount: '7' });
  });

  it('is not read: an About panel with another ID', () => {
    const panelOf = (channelId: string) => ({
      onResponseReceivedEndpoints: [{ aboutChannelViewModel: { channelId, country: 'Georgia' } }],
    });
    expect(fieldsOf(panelOf('UCofAnotherChannel000000')).country).toBeNull();
    expect(fieldsOf(panelOf(ID)).country).toBe('GE');
  });
});
