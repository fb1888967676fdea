import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isOfDataApi } from '../../../test/helpers/indexed-responses.ts';
import { OWN_RESPONSES, readResponses } from '../../../test/helpers/replay-responses.ts';
import { runsOf } from '../../../test/helpers/runs.ts';
import { plainTitle } from '../../domain/channel.ts';
import { parseJsonObject } from '../../lib/json.ts';
import { decodeReferences } from '../foreign-texts.ts';
import { channels, search } from '../youtube-data-api/parse.ts';
import { readFeed } from './feed.ts';
import { saysGone } from './gone.ts';
import { layoutOf, OBJECT_NAMES } from './objects.ts';
import { readAbout, readEndpoint, readInitialData, readPage as readPageOf } from './page.ts';
import { readObjects } from './readings.ts';
import { buildRecord } from './record.ts';
import { readSearchPage } from './search-page.ts';

const ID = 'UCreplayLighthouse000001';
const readPage = (page: Parameters<typeof readPageOf>[0]) => readPageOf(page, ID);
const parsed = (text: string) => parseJsonObject(Buffer.from(text)) ?? expect.fail('no JSON object');

const MEGABYTE = 1_000_000;
const long = (text: string) => text.repeat(MEGABYTE / text.length);

/** Texts that take quadratic time or more if a pattern can match them in many ways. */
const TEXTS = {
  'a count and blanks': `1${long(' ')}x`,
  'blanks and a count': `${long(' ')}1 view`,
  'groups of digits': `${long('1,')} views`,
  'a date and blanks': `Joined${long(' ')}Feb 1, 2015`,
  'dots of a host': long('a.'),
  slashes: long('https://'),
  'an endless handle': `@${long('ก')}`,
  escapes: `http://www.youtube.com/@${long('%E0')}`,
  'marks to be put in order': `@e${long('\u{301}\u{316}')}`,
  equals: `https://yt3.ggpht.com/${long('=')}`,
  'abbreviated saints': long('St. '),
  contractions: long("account isn't "),
  references: long('&#'),
  tags: long('<title>'),
};

/** Sets a value at a path. Leaves what is no object or list on the way as it is. */
function put(node: Record<string, unknown>, [step = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) node[step] = value;
  else {
    node[step] ??= rest[0] === '0' ? [] : {};
    if (typeof node[step] === 'object') put(node[step] as Record<string, unknown>, rest, value);
  }
}

/** Every object, with the same value at all of its members. */
const objectsFullOf = (value: unknown) =>
  OBJECT_NAMES.map((object) => {
    const { names, members, texts = 'other' } = layoutOf(object);
    const full = {};
    for (const path of [...Object.values(members).flat(), texts])
      put(full, path.replaceAll('*', '0').split('.'), value);
    return Object.fromEntries(names.map((name) => [name, full]));
  });

it.each(Object.entries(TEXTS))('objects full of %s have no values, and are read in time', (_what, text) => {
  const links = [{ channelExternalLinkViewModel: { title: text, link: { content: text } } }];
  for (const { fields } of [text, links].flatMap((value) => objectsFullOf(value).flatMap(readObjects)))
    for (const [field, reading] of Object.entries(fields))
      if (/Id$|Count$|At$|country|customUrl/.test(field)) expect(reading.value).toBeUndefined();
});

it.each(Object.entries(TEXTS))('everything else that is read in responses may be %s', (_what, text) => {
  const url = { browseEndpoint: { browseId: text }, urlEndpoint: { url: text } };
  const alerts = [{ alertRenderer: { type: 'ERROR', text } }];
  const { alert } = readPage({ alerts, onResponseReceivedActions: [{ navigateAction: { endpoint: url } }] });
  expect(saysGone(alert ?? '')).toBe(false);
  expect(saysGone(text)).toBe(false);
  expect(readEndpoint({ endpoint: url })).toMatchObject({ browseId: undefined, target: undefined });
  const title = { title: { simpleText: 'T' } };
  const channelRenderer = {
    ...{ channelId: ID, ...title, subscriberCountText: text, videoCountText: text, descriptionSnippet: text },
    navigationEndpoint: { browseEndpoint: { canonicalBaseUrl: text } },
  };
  const hit = { title: 'T', customUrl: null, subscriberCount: null, videoCount: null };
  const contents = [{ itemSectionRenderer: { contents: [{ channelRenderer }, { messageRenderer: { text } }] } }];
  expect(readSearchPage({ contents })).toMatchObject([hit]);
  expect(readFeed(`<feed><title>${text}</title><published>${text}</published></feed>`)?.publishedAt).toBeUndefined();
  expect(readInitialData(Buffer.from(`ytInitialData = {${text}`))).toBeUndefined();
  for (const read of [channels, search])
    expect(read(Buffer.from(JSON.stringify({ items: [{ id: text }] })))?.list).toBe(null);
  expect(plainTitle(decodeReferences(text)).length).toBeGreaterThan(0);
});

const MANY = 150_000;

it.each([
  [readPage, `{"header":[${'0,'.repeat(MANY)}0],"alerts":[${'{},'.repeat(MANY)}{}]}`],
  [readAbout, `{"onResponseReceivedEndpoints":[${'{},'.repeat(MANY)}{}]}`],
  [
    readSearchPage,
    `{"contents":[${'{"lockupViewModel":{}},{"channelRenderer":{}},'.repeat(MANY / 10)}0],"estimatedResults":"0"}`,
  ],
] as const)('a response with a list of many elements is read: %o', (read, text) => {
  expect(read(parsed(text))).toBeDefined();
});

it('a search whose members have very long names is read in time', () => {
  for (const name of ['shelf', 'message', 'promoted', 'a'].map((word) => `${word.repeat(250_000)}!`)) {
    expect(readSearchPage({ contents: [{ [name]: { [name]: [{ [name]: {} }] } }] })).toBeUndefined();
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
      buildRecord(ID, readPage(response), readAbout(response));
      readSearchPage(response);
      readEndpoint(response);
    }),
    { numRuns: runsOf(300) },
  );
});

it('the target of a page address that is a deep object is none', () => {
  expect(readEndpoint({ endpoint: { browseEndpoint: { browseId: DEEP } } }).browseId).toBeUndefined();
});

it.each([readPage, readAbout, readSearchPage, readEndpoint])('a deeply nested response is read: %o', (read) => {
  const depth = 200_000;
  const inContents = `{"contents":${'['.repeat(depth)}${']'.repeat(depth)},"alerts":${'{"x":'.repeat(depth)}0${'}'.repeat(depth)}}`;
  read(parsed(inContents));
  read(parsed(`{"header":${'['.repeat(depth)}${']'.repeat(depth)}}`));
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
