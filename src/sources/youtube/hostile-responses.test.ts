import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isOfDataApi } from '../../../test/helpers/indexed-responses.ts';
import { OWN_RESPONSES, readResponses } from '../../../test/helpers/replay-responses.ts';
import { runsOf } from '../../../test/helpers/runs.ts';
import { parseJsonObject } from '../../lib/json.ts';
import { readFeed } from './feed.ts';
import { CHANNEL_LAYOUTS, LANGUAGE } from './layouts.ts';
import { readEndpoint, readPage, readPanel } from './readings.ts';
import { buildRecord } from './record.ts';
import { readSearchPage } from './search-page.ts';

const parsed = (text: string) => parseJsonObject(Buffer.from(text)) ?? expect.fail('no JSON object');

/** Texts that take quadratic time or more if a pattern can match them in many ways. */
const TEXTS = {
  'a count and blanks': `1${' '.repeat(20_000)}x`,
  'blanks and a count': `${' '.repeat(20_000)}1 view`,
  'groups of digits': `${'1,'.repeat(10_000)} views`,
  'a date and blanks': `Joined${' '.repeat(20_000)}Feb 1, 2015`,
  'dots of a host': 'a.'.repeat(10_000),
  slashes: 'https://'.repeat(2_500),
  'an endless handle': `@${'ก'.repeat(20_000)}`,
  escapes: `http://www.youtube.com/@${'%E0'.repeat(7_000)}`,
  'marks to be put in order': `@e${'\u{301}\u{316}'.repeat(10_000)}`,
  equals: `https://yt3.ggpht.com/${'='.repeat(20_000)}`,
  'abbreviated saints': 'St. '.repeat(5_000),
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

it.each(Object.entries(TEXTS))('a response full of %s gives no values, and is read in time', (_what, text) => {
  for (const value of [text, [{ channelExternalLinkViewModel: { link: { content: text } } }]]) {
    for (const { fields } of [
      readPage(parsed(responseFullOf('page', value))),
      readPanel(parsed(responseFullOf('about', value))),
    ]) {
      expect(fields.filter(({ field }) => /Count$|At$|country|customUrl/.test(field))).toEqual([]);
    }
  }
  const wrapped = { simpleText: text };
  const channelRenderer = {
    channelId: 'UCreplayLighthouse000001',
    title: { simpleText: 'T' },
    subscriberCountText: wrapped,
    videoCountText: wrapped,
    navigationEndpoint: { browseEndpoint: { canonicalBaseUrl: text } },
  };
  const contents = [{ itemSectionRenderer: { contents: [{ channelRenderer }] } }];
  const hit = { title: 'T', customUrl: null, subscriberCount: null, videoCount: null };
  expect(readSearchPage({ contents }).hits).toMatchObject([hit]);
});

const MANY = 150_000;

it.each([
  [readPage, `{"header":[${'0,'.repeat(MANY)}0],"alerts":[${'{},'.repeat(MANY)}{}]}`],
  [readPanel, `{"onResponseReceivedEndpoints":[${'{},'.repeat(MANY)}{}]}`],
  [readSearchPage, `{"contents":[${'{"lockupViewModel":{}},{"channelRenderer":{}},'.repeat(MANY / 10)}0]}`],
] as const)('a response with a list of many elements is read: %o', (read, text) => {
  expect(read(parsed(text))).toBeDefined();
});

it('a search whose members have very long names is read in time', () => {
  for (const name of ['shelf', 'message', 'promoted', 'a'].map((word) => `${word.repeat(250_000)}!`)) {
    const { isUnreadable, unknownNames } = readSearchPage({ contents: [{ [name]: { [name]: [{ [name]: {} }] } }] });
    expect([isUnreadable, unknownNames]).toEqual([true, []]);
  }
});

const DEEP = parsed(`{"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
const WRONG_VALUES = [
  null,
  true,
  5,
  '',
  'x',
  [],
  {},
  [[0]],
  DEEP,
  [DEEP],
  { toString: 1, length: -1, constructor: null },
];
const BODIES = readResponses(OWN_RESPONSES)
  .filter((response) => !isOfDataApi(response) && response.text.startsWith('{'))
  .map(({ text }) => parsed(text));

it('a response with values of wrong types anywhere is read', () => {
  const withWrongValues = (value: unknown, draw: () => number): unknown => {
    if (draw() < 0.02) return WRONG_VALUES[Math.floor(draw() * WRONG_VALUES.length)];
    if (Array.isArray(value)) return value.map((element: unknown) => withWrongValues(element, draw));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withWrongValues(member, draw)]));
  };
  const wrong = fc.tuple(fc.constantFrom(...BODIES), fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })));
  fc.assert(
    fc.property(wrong, ([body, numbers]) => {
      const draw = () => numbers.next().value ?? 0;
      const members = Object.entries(body).map(([name, member]) => [name, withWrongValues(member, draw)]);
      const response = Object.fromEntries(members) as typeof body;
      buildRecord('UCreplayLighthouse000001', readPage(response), readPanel(response));
      readSearchPage(response);
      readEndpoint(response);
    }),
    { numRuns: runsOf(300) },
  );
});

it('two targets of a page address that are deep objects are none', () => {
  const browseEndpoint = { browseId: DEEP };
  expect(readEndpoint({ endpoint: { first: browseEndpoint, second: browseEndpoint } }).browseId).toBeUndefined();
});

it.each([readPage, readPanel, readSearchPage, readEndpoint])('a deeply nested response is read: %o', (read) => {
  const depth = 200_000;
  const inContents = `{"contents":${'['.repeat(depth)}${']'.repeat(depth)},"alerts":${'{"x":'.repeat(depth)}0${'}'.repeat(depth)}}`;
  expect(read(parsed(inContents))).toBeDefined();
  expect(read(parsed(`{"header":${'['.repeat(depth)}${']'.repeat(depth)}}`))).toBeDefined();
});

it.each([
  '<'.repeat(300_000),
  '<!--'.repeat(300_000),
  `<feed ${'a="'.repeat(300_000)}`,
  `<feed>${'<published>'.repeat(300_000)}`,
  `<feed><published>${' '.repeat(300_000)}x</published></feed>`,
])('a broken feed gives no time: %.30s', (xml) => {
  expect(readFeed(xml)?.publishedAt).toBeUndefined();
});
