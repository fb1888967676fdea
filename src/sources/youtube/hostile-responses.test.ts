import { describe, expect, it } from 'vitest';
import { CHANNEL_LAYOUTS, LANGUAGE } from './layouts.ts';
import { RESPONSE_READERS } from './response-readers.ts';

function read<Name extends keyof typeof RESPONSE_READERS>(name: Name, text: string) {
  return RESPONSE_READERS[name](Buffer.from(text)) as ReturnType<(typeof RESPONSE_READERS)[Name]>;
}

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
    for (const [name, part] of [
      ['page', 'page'],
      ['panel', 'about'],
    ] as const) {
      const reading = read(name, responseFullOf(part, value));
      const counts = reading?.fields.filter(({ field }) => /Count$|At$|country|customUrl/.test(field));
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
    expect(read('searchPage', JSON.stringify(response))?.hits).toMatchObject([hit]);
  });
});

describe('a response', () => {
  const MANY = 300_000;

  it.each([
    ['page', `{"header":[${'0,'.repeat(MANY)}0],"alerts":[${'{},'.repeat(MANY)}{}]}`],
    ['page', `{"header":{"x":[${'{"url":"https://accounts.google.com/ServiceLogin?"},'.repeat(MANY / 10)}0]}}`],
    ['panel', `{"onResponseReceivedEndpoints":[${'{},'.repeat(MANY)}{}]}`],
    [
      'page',
      `{"header":[${'{"avatarViewModel":{"image":{"sources":[{"url":"https://a.b/c"}]}}},'.repeat(MANY / 10)}0]}`,
    ],
    ['page', `{"header":{${Array.from({ length: MANY }, (_, index) => `"x${index}":{}`).join()}}}`],
    ['searchPage', `{"contents":[${'{"lockupViewModel":{}},{"channelRenderer":{}},'.repeat(MANY / 10)}0]}`],
    ['searchPage', `{"contents":{${Array.from({ length: MANY }, (_, index) => `"x${index}":[{}]`).join()}}}`],
    [
      'searchPage',
      `{"onResponseReceivedCommands":[{"appendContinuationItemsAction":{"continuationItems":[${'{},'.repeat(MANY)}0]}}]}`,
    ],
  ] as const)('with a list of many elements is read: %s', (name, text) => {
    expect(read(name, text)).not.toBeNull();
  });

  it.each(['page', 'panel', 'searchPage', 'endpoint', 'refusal'] as const)('with deep nesting is read: %s', (name) => {
    const depth = 200_000;
    const inContents = `{"contents":${'['.repeat(depth)}${']'.repeat(depth)},"alerts":${'{"x":'.repeat(depth)}0${'}'.repeat(depth)}}`;
    expect(read(name, inContents)).not.toBeNull();
    expect(read(name, `{"header":${'['.repeat(depth)}${']'.repeat(depth)}}`)).not.toBeNull();
    expect(read(name, `${'{"header":'.repeat(depth)}0${'}'.repeat(depth)}`)).not.toBeNull();
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
    expect(read('feed', xml)?.publishedAt).toBeUndefined();
  });
});
