import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Channel } from '../../src/domain/channel.ts';
import type { JsonObject } from '../../src/sources/json.ts';
import type { FieldReading } from '../../src/sources/youtube/fields.ts';
import { CHANNEL_FIELDS, CHANNEL_LAYOUTS } from '../../src/sources/youtube/layouts.ts';
import { readPage, readPanel } from '../../src/sources/youtube/readings.ts';
import { buildRecord } from '../../src/sources/youtube/record.ts';
import { runsOf } from '../helpers/runs.ts';

/** The number of videos in headers is rounded above 999. */
type CarriedField = keyof Channel | 'roundedVideoCount';

/** What upstream shows, and what it means. */
interface Told {
  readonly shown: unknown;
  readonly value: unknown;
}

type Truth = Readonly<Record<CarriedField, Told>>;

const asItIs = (values: fc.Arbitrary<unknown>) => values.map((value) => ({ shown: value, value }));
const base64url = (length: number) => fc.stringMatching(new RegExp(`^[\\w-]{${length}}$`));
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== '');
const handle = fc
  .string({ unit: fc.constantFrom(...'abzABZ019_-.·éöñжяนท日本'), maxLength: 20 })
  .map((rest) => `@a${rest}`.normalize('NFC'));

const exactly = (value: number) => [value === 0 ? 'No' : value.toLocaleString('en-US'), String(value)] as const;
const exactCount = fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 0, max: 3e11 })).map(exactly);
const threeDigits = fc.record({ digits: fc.integer({ min: 100, max: 999 }), decimals: fc.nat({ max: 2 }) });
/** 0 … 999, or three digits and a suffix, in either of upstream's English spellings. */
const roundedCount = fc.oneof(
  fc.integer({ min: 0, max: 999 }).map(exactly),
  fc.tuple(threeDigits, fc.constantFrom('K', 'k', 'M', 'm', 'B')).map(([{ digits, decimals }, suffix]) => {
    const zeros = 3 + 3 * 'KMB'.indexOf(suffix.toUpperCase()) - decimals;
    return [`${(digits / 10 ** decimals).toFixed(decimals)}${suffix}`, `${digits}${'0'.repeat(zeros)}`] as const;
  }),
);
const counted = (counts: typeof roundedCount, noun: string) =>
  counts.map(([text, value]) => ({ shown: `${text} ${noun}${value === '1' ? '' : 's'}`, value }));

const MONTH = new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' });
const joined = fc
  .tuple(fc.date({ min: new Date('2005-02-14'), max: new Date('2026-11-20'), noInvalidDate: true }), fc.boolean())
  .map(([day, isDayFirst]) => {
    const month = MONTH.format(day);
    const [date, year] = [day.getUTCDate(), day.getUTCFullYear()];
    const text = isDayFirst ? `${date} ${month === 'Sep' ? 'Sept' : month} ${year}` : `${month} ${date}, ${year}`;
    return { shown: `Joined ${text}`, value: `${day.toISOString().slice(0, 10)}T00:00:00Z` };
  });

const countries = fc.constantFrom(
  { shown: 'United Kingdom', value: 'GB' },
  { shown: 'Australia', value: 'AU' },
  { shown: 'Türkiye', value: 'TR' },
  { shown: 'Turkey', value: 'TR' },
  { shown: 'Hong Kong', value: 'HK' },
  { shown: 'Côte d’Ivoire', value: 'CI' },
  { shown: 'Bosnia & Herzegovina', value: 'BA' },
  { shown: 'South Korea', value: 'KR' },
);

const REDIRECT = 'https://www.youtube.com/redirect?event=channel_description&redir_token=x&q=';
const link = fc
  .tuple(words, fc.webUrl({ validSchemes: ['http', 'https'], withQueryParameters: true }), fc.boolean())
  .map(([title, url, isWrapped]) => ({
    shown: { title: title.trim(), url: isWrapped ? REDIRECT + encodeURIComponent(url) : url },
    value: { title: title.trim(), url: new URL(url).href },
  }));

const image = fc
  .tuple(fc.constantFrom('yt3.googleusercontent.com/', 'yt3.ggpht.com/', 'yt3.ggpht.com/ytc/'), base64url(40))
  .map(([place, name]) => `https://${place}${name}`);

/** Random channels in upstream's words. */
const truths: fc.Arbitrary<Truth> = fc.record({
  channelId: asItIs(base64url(22).map((rest) => `UC${rest}`)),
  title: asItIs(words),
  description: asItIs(fc.string({ unit: 'grapheme', maxLength: 80 })),
  customUrl: asItIs(handle),
  publishedAt: joined,
  country: countries,
  subscriberCount: counted(roundedCount, 'subscriber'),
  viewCount: counted(exactCount, 'view'),
  videoCount: counted(exactCount, 'video'),
  roundedVideoCount: counted(roundedCount, 'video'),
  links: fc.array(link, { maxLength: 4 }).map((links) => ({
    shown: links.map(({ shown }) => shown),
    value: links.map(({ value }) => value),
  })),
  banner: asItIs(image),
  avatar: asItIs(image),
});

/**
 * The parts of responses in all layouts, written down from recorded responses. `{"$title": …}` is a place that tells a field,
 * `{"$noise": …}` a value that looks like a field and is none. In a place, `%s` stands for the text that upstream shows,
 * `%1` and `%2` for its first word and the others, `%u` for the text in a URL, and `%t` and `%l` for
 * title and target of each link. `junk` has values without information that may be in a place instead.
 */
const { parts, junk } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/channel-responses.json'), 'utf8'),
) as { parts: Record<string, object>; junk: Record<CarriedField | 'any', unknown[]> };

const STATES = ['usable', 'unusable', 'absent'] as const;

/** One place of a response that may tell a field. */
interface Carrier {
  readonly part: string;
  readonly field: CarriedField;
  readonly state: (typeof STATES)[number];
}

/**
 * Renders a part.
 *
 * @param draw called for each place in it: its state and its junk
 * @param carriers gets the places that tell fields
 */
function renderPart(part: string, truth: Truth, draw: () => number, carriers: Carrier[]): unknown {
  return JSON.parse(JSON.stringify(parts[part]), (_key, node: unknown) => {
    const [[mark = '', template] = []] = Object.entries(node ?? {}) as [string, unknown][];
    if (!mark.startsWith('$')) return isEmpty(node) ? undefined : node;
    const drawn = draw();
    const state = STATES[drawn % STATES.length] ?? 'absent';
    if (mark === '$noise') return state === 'absent' ? undefined : template;
    const field = mark.slice(1) as CarriedField;
    carriers.push({ part, field, state });
    if (state === 'usable') return fill(template, truth[field]);
    return state === 'absent' ? undefined : junkFor(field, Math.floor(drawn / STATES.length));
  });
}

/** Whether all places in a part of a response are absent. */
function isEmpty(node: unknown): boolean {
  if (Array.isArray(node)) return node.every((value) => value === null);
  return typeof node === 'object' && node !== null && Object.keys(node).length === 0;
}

function junkFor(field: CarriedField, choice: number): unknown {
  const values = field === 'links' ? junk.links : [...junk.any, ...junk[field]];
  return values[choice % values.length];
}

function fill(template: unknown, { shown }: Told): unknown {
  const fillIn = (texts: Record<string, string>): unknown =>
    JSON.parse(JSON.stringify(template), (_key, node: unknown) =>
      typeof node === 'string' ? node.replace(/%(\w)/g, (_all, token: string) => texts[token] ?? '') : node,
    );
  if (Array.isArray(shown)) return shown.map(({ title, url }) => fillIn({ t: title, l: url }));
  const [first = '', ...others] = String(shown).split(' ');
  return fillIn({ s: String(shown), 1: first, 2: others.join(' '), u: encodeURI(String(shown)) });
}

/** The parts of a page in each layout. Metadata and microformat may be beside any of them. */
const LAYOUTS = [
  ['pageHeader', 'shelf'],
  ['pageHeader', 'htmlPanel'],
  ['c4', 'shelf'],
  ['c4', 'aboutTab'],
  ['game', 'shelf'],
  ['carousel', 'shelf'],
  ['ageGate'],
];
/** They may stand for a channel without naming its ID: with a title they are that of the requested ID. */
const TITLED_PARTS = ['pageHeader', 'game', 'carousel', 'ageGate'];

/** The upstream responses for one channel. */
interface ChannelResponses {
  readonly page: JsonObject;
  /** Empty if there is none. */
  readonly about: JsonObject;
  readonly isAboutLost: boolean;
  readonly requestedId: string;
}

interface CorpusCase {
  readonly responses: ChannelResponses;
  /** Images without their options; `undefined`: no record at all. */
  readonly expected: Readonly<Record<string, unknown>> | undefined;
}

const MOST_PLACES = 60;

/** Draws the truth, the parts of a response, and what is in each of their places. */
const corpusCases: fc.Arbitrary<CorpusCase> = fc
  .record({
    truth: truths,
    layout: fc.constantFrom(...LAYOUTS),
    hasMetadata: fc.boolean(),
    hasMicroformat: fc.boolean(),
    about: fc.constantFrom('panel', 'none', 'lost'),
    places: fc.array(fc.nat({ max: 299 }), { minLength: MOST_PLACES, maxLength: MOST_PLACES }),
    isReversed: fc.boolean(),
  })
  .map(({ truth, layout, hasMetadata, hasMicroformat, about, places, isReversed }) => {
    const parts = [
      ...(about === 'panel' ? ['panel'] : []),
      ...layout,
      ...(hasMetadata ? ['metadata'] : []),
      ...(hasMicroformat ? ['microformat'] : []),
    ];
    const carriers: Carrier[] = [];
    const drawn = places.values();
    const rendered = parts.map(
      (part) =>
        renderPart(part, truth, () => drawn.next().value ?? 0, carriers) as Partial<ChannelResponses> | undefined,
    );
    const responses = {
      page: Object.assign({}, ...rendered.map((response) => response?.page)),
      about: Object.assign({}, ...rendered.map((response) => response?.about)),
    };
    return {
      // Converted through JSON like real responses: gaps in lists become nulls.
      responses: {
        ...(JSON.parse(JSON.stringify(responses), isReversed ? reverseHeaderRows : undefined) as typeof responses),
        isAboutLost: about === 'lost',
        requestedId: String(truth.channelId.value),
      },
      expected: expectedRecord(truth, parts, carriers),
    };
  });

function reverseHeaderRows(key: string, value: unknown): unknown {
  return (key === 'metadataRows' || key === 'metadataParts') && Array.isArray(value) ? value.toReversed() : value;
}

function expectedRecord(truth: Truth, parts: readonly string[], carriers: readonly Carrier[]): CorpusCase['expected'] {
  const usable = carriers.filter(({ state }) => state === 'usable');
  const carries = (wanted: CarriedField) => usable.some(({ field }) => field === wanted);
  const isTitled = usable.some(({ field, part }) => field === 'title' && TITLED_PARTS.includes(part));
  if (!carries('title') || !(carries('channelId') || isTitled)) return undefined;
  const told = (field: CarriedField) => (carries(field) ? truth[field].value : null);
  return {
    ...Object.fromEntries(CHANNEL_FIELDS.map((field) => [field, told(field)])),
    channelId: truth.channelId.value,
    videoCount: told('videoCount') ?? told('roundedVideoCount'),
    links: expectedLinks(truth, parts, carriers),
  };
}

/** The panel takes precedence over that of an HTML page, and over the tab. If it has no list, there are no links. */
function expectedLinks(truth: Truth, parts: readonly string[], carriers: readonly Carrier[]): unknown {
  for (const part of ['panel', 'htmlPanel', 'aboutTab'].filter((each) => parts.includes(each))) {
    const { state } = carriers.find((carrier) => carrier.part === part && carrier.field === 'links') ?? {};
    if (state === 'usable') return truth.links.value;
    if (state === 'absent') return [];
  }
  return null;
}

const CASES = runsOf(4_000);
/** Enough for every rule to be the only one that carries its field. */
const CASES_PER_RULE = 5_000;
const CASES_PER_BATCH = 250;

/** A path that may carry a field. */
type Rule = Pick<FieldReading, 'field' | 'path'>;

interface Readings {
  readonly page: ReturnType<typeof readPage>;
  readonly panel: ReturnType<typeof readPanel>;
}

function readCase({ page, about }: ChannelResponses): Readings {
  return { page: readPage(page), panel: readPanel(about) };
}

/** @param removed the record is built without the values that this rule found */
function build({ isAboutLost, requestedId }: ChannelResponses, { page, panel }: Readings, removed?: Rule) {
  const remaining = (fields: readonly FieldReading[]) =>
    fields.filter(({ field, path }) => removed === undefined || field !== removed.field || path !== removed.path);
  const values = isAboutLost ? 'lost' : { ...panel, fields: remaining(panel.fields) };
  return buildRecord(requestedId, { ...page, fields: remaining(page.fields) }, values);
}

function isTruth({ responses, expected }: CorpusCase, readings: Readings, removed?: Rule): boolean {
  return isDeepStrictEqual(recordOf(build(responses, readings, removed)), expected);
}

function recordOf(loaded: ReturnType<typeof build>): CorpusCase['expected'] {
  if (loaded === undefined) return undefined;
  const { banner, avatar, ...fields } = loaded.channel;
  return { ...fields, banner: banner?.key ?? null, avatar: avatar?.key ?? null };
}

interface ReadCase {
  readonly corpusCase: CorpusCase;
  readonly readings: Readings;
}

const readCases: ReadCase[] = [];

/** The same cases each time, generated when the first rule needs them. */
function* casesForRules(): Generator<ReadCase> {
  for (let index = 0; index < CASES_PER_RULE; index += 1) {
    if (index === readCases.length) {
      const generated = fc.sample(corpusCases, CASES_PER_BATCH);
      readCases.push(...generated.map((corpusCase) => ({ corpusCase, readings: readCase(corpusCase.responses) })));
    }
    yield readCases[index] as ReadCase;
  }
}

describe('the corpus of generated responses', () => {
  it(`gives the truth wherever a response carries it, in ${CASES} cases`, () => {
    let records = 0;
    fc.assert(
      fc.property(corpusCases, (corpusCase) => {
        const { responses, expected } = corpusCase;
        expect(recordOf(build(responses, readCase(responses)))).toEqual(expected);
        if (expected !== undefined) records += 1;
      }),
      { numRuns: CASES },
    );
    expect(records, 'cases with a record').toBeGreaterThan(CASES / 4);
  });

  const rules = CHANNEL_FIELDS.flatMap((field) => CHANNEL_LAYOUTS[field].map((path) => ({ field, path })));

  it.each(rules)('has cases that fail without the rule for $field at $path', (rule) => {
    const needsRule = ({ corpusCase, readings }: ReadCase) =>
      isTruth(corpusCase, readings) && !isTruth(corpusCase, readings, rule);
    expect(casesForRules().some(needsRule)).toBe(true);
  });
});
