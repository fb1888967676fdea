import { describe, expect, it } from 'vitest';
import { parseJsonObject } from '../json.ts';
import { readFeed } from './feed.ts';
import { CHANNEL_LAYOUTS, LANGUAGE } from './layouts.ts';
import { readEndpoint, readPage, readPanel } from './readings.ts';
import { readSearchPage } from './search-page.ts';

const parsed = (text: string) => parseJsonObject(Buffer.from(text)) ?? expect.fail('no JSON object');

/** Texts of some 100,000 characters that take quadratic time or more if a pattern can match them in many ways. */
const TEXTS = {
  'a count and blanks': `1${' '.repeat(60_000)}x`,
  'blanks and a count': `${' '.repeat(60_000)}1 view`,
  digits: `${'1'.repeat(100_000)}x`,
  'groups of digits': `${'1,'.repeat(50_000)} views`,
  'a date and blanks': `Joined${' '.repeat(60_000)}Feb 1, 2015`,
  'dots of a host': 'a.'.repeat(50_000),
  slashes: 'https://'.repeat(12_500),
  'an endless handle': `@${'ก'.repeat(60_000)}`,
  escapes: `http://www.youtube.com/@${'%E0'.repeat(33_000)}`,
  'marks to be put in order': `@e${'\u{301}\u{316}'.repeat(50_000)}`,
  equals: `https://yt3.ggpht.com/${'='.repeat(100_000)}`,
  'abbreviated saints': 'St. '.repeat(25_000),
};

const PATHS = [...new Set([...Object.values(CHANNEL_LAYOUTS).flat(), LANGUAGE])];

/** A response with the same value in every place that is read. */
function responseFullOf(part: 'page' | 'about', value: unknown): string {
  const responses: Record<string, unknown> = {};
  for (const path of PATHS.filter((each) => each.startsWith(`${part}.`))) {
    put(responses, path.replaceAll('*', '0').split('.'), value);
  }
  return JSON.stringify(responses[part]);
}

/** Sets a value at a path. Leaves what is no object or list on the way as it is. */
function put(node: Record<string, unknown>, [step = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) node[step] = value;
  else {
    node[step] ??= rest[0] === '0' ? [] : {};
    if (typeof node[step] === 'object') put(node[step] as Record<string, unknown>, rest, value);
  }
}

describe.each(Object.entries(TEXTS))('a response full of %s', (_what, text) => {
  it.each([
    ['strings', text],
    ['links', [{ channelExternalLinkViewModel: { link: { content: text } } }]],
  ])('as %s gives no values, and is read in time', (_form, value) => {
    for (const { fields } of [
      readPage(parsed(responseFullOf('page', value))),
      readPanel(parsed(responseFullOf('about', value))),
    ]) {
      const counts = fields.filter(({ field }) => /Count$|At$|country|customUrl/.test(field));
      expect(counts).toEqual([]);
    }
  });
});

describe.each(Object.entries(TEXTS))('a search full of %s', (_what, text) => {
  it('has hits of bounded length, and is read in time', () => {
    const wrapped = { simpleText: text };
    const channelRenderer = {
      channelId: 'UCreplayLighthouse000001',
      title: { simpleText: 'T' },
      descriptionSnippet: wrapped,
      subscriberCountText: wrapped,
      videoCountText: wrapped,
      navigationEndpoint: { browseEndpoint: { canonicalBaseUrl: text } },
      thumbnail: { thumbnails: [{ url: text }] },
    };
    const sections = [{ itemSectionRenderer: { contents: [{ channelRenderer }] } }];
    const response = {
      onResponseReceivedCommands: [{ appendContinuationItemsAction: { continuationItems: sections } }],
    };
    const hit = { title: 'T', description: null, customUrl: null, subscriberCount: null, videoCount: null };
    expect(readSearchPage(response).hits).toMatchObject([hit]);
  });
});

describe('a response', () => {
  const MANY = 300_000;

  it.each([
    [readPage, `{"header":[${'0,'.repeat(MANY)}0],"alerts":[${'{},'.repeat(MANY)}{}]}`],
    [readPage, `{"header":{"x":[${'{"url":"https://accounts.google.com/ServiceLogin?"},'.repeat(MANY / 10)}0]}}`],
    [readPanel, `{"onResponseReceivedEndpoints":[${'{},'.repeat(MANY)}{}]}`],
    [
      readPage,
      `{"header":[${'{"avatarViewModel":{"image":{"sources":[{"url":"https://a.b/c"}]}}},'.repeat(MANY / 10)}0]}`,
    ],
    [readPage, `{"header":{${Array.from({ length: MANY }, (_, index) => `"x${index}":{}`).join()}}}`],
    [readSearchPage, `{"contents":[${'{"lockupViewModel":{}},{"channelRenderer":{}},'.repeat(MANY / 10)}0]}`],
    [readSearchPage, `{"contents":{${Array.from({ length: MANY }, (_, index) => `"x${index}":[{}]`).join()}}}`],
    [
      readSearchPage,
      `{"onResponseReceivedCommands":[{"appendContinuationItemsAction":{"continuationItems":[${'{},'.repeat(MANY)}0]}}]}`,
    ],
  ] as const)('with a list of many elements is read: %o', (read, text) => {
    expect(read(parsed(text))).toBeDefined();
  });

  it.each([readPage, readPanel, readSearchPage, readEndpoint])('with deep nesting is read: %o', (read) => {
    const depth = 200_000;
    const inContents = `{"contents":${'['.repeat(depth)}${']'.repeat(depth)},"alerts":${'{"x":'.repeat(depth)}0${'}'.repeat(depth)}}`;
    expect(read(parsed(inContents))).toBeDefined();
    expect(read(parsed(`{"header":${'['.repeat(depth)}${']'.repeat(depth)}}`))).toBeDefined();
    expect(read(parsed(`${'{"header":'.repeat(depth)}0${'}'.repeat(depth)}`))).toBeDefined();
  });

  it.each([
    '<'.repeat(300_000),
    '<!--'.repeat(300_000),
    '<a>'.repeat(300_000),
    `<feed ${'a="'.repeat(300_000)}`,
    `<feed>${'<published>'.repeat(300_000)}`,
    `<feed><link ${' rel="alternate" href="'.repeat(100_000)}"/></feed>`,
    `<feed><link rel="alternate" href="https://xn--${'a'.repeat(300_000)}/"/></feed>`,
    `<feed><published>${' '.repeat(300_000)}x</published></feed>`,
  ])('with a broken feed gives no time: %.30s', (xml) => {
    expect(readFeed(xml)?.publishedAt).toBeUndefined();
  });
});
