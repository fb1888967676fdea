import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Channel } from '../../src/domain/channel.ts';
import type { JsonObject } from '../../src/sources/youtube/json.ts';
import { CHANNEL_FIELDS, CHANNEL_LAYOUTS, type ChannelLayouts } from '../../src/sources/youtube/layouts.ts';
import { readPage, readPanel } from '../../src/sources/youtube/readings.ts';
import { buildRecord } from '../../src/sources/youtube/record.ts';
import {
  type Carrier,
  LAYOUT_MARKERS,
  LAYOUTS,
  type LayoutName,
  METADATA_CARRIERS,
  MICROFORMAT_CARRIERS,
  PANEL,
  PANEL_CARRIERS,
  TAB_MARKER,
  TITLED_PARTS,
} from '../helpers/youtube-corpus/carriers.ts';
import { addNoise, type CarriedField, JUNK, NOISE, put } from '../helpers/youtube-corpus/noise.ts';
import { type Truth, truths } from '../helpers/youtube-corpus/truth.ts';

/** The expected result for a case: the truth without its pictures' options, or no record at all. */
type ExpectedRecord = Omit<Channel, 'banner' | 'avatar'> & {
  readonly bannerKey: string | null;
  readonly avatarKey: string | null;
};

/** The upstream answers for one channel. */
interface ChannelAnswers {
  readonly page: JsonObject;
  /** Empty if there is none. */
  readonly about: JsonObject;
  readonly isAboutLost: boolean;
  readonly requestedId: string;
}

interface CorpusCase {
  readonly answers: ChannelAnswers;
  readonly expected: ExpectedRecord | undefined;
}

type CarrierState = 'usable' | 'unusable' | 'absent';

interface Drawn {
  readonly truth: Truth;
  readonly layout: LayoutName;
  readonly hasMetadata: boolean;
  readonly hasMicroformat: boolean;
  readonly about: 'panel' | 'none' | 'lost';
  readonly states: readonly CarrierState[];
  readonly junk: readonly number[];
  readonly noise: readonly string[];
  readonly isReversed: boolean;
}

const MOST_CARRIERS = 60;

const drawn: fc.Arbitrary<Drawn> = fc.record({
  truth: truths,
  layout: fc.constantFrom(...(Object.keys(LAYOUTS) as LayoutName[])),
  hasMetadata: fc.boolean(),
  hasMicroformat: fc.boolean(),
  about: fc.constantFrom('panel', 'none', 'lost'),
  states: fc.array(fc.constantFrom<CarrierState>('usable', 'unusable', 'absent'), {
    minLength: MOST_CARRIERS,
    maxLength: MOST_CARRIERS,
  }),
  junk: fc.array(fc.nat({ max: 100 }), { minLength: MOST_CARRIERS, maxLength: MOST_CARRIERS }),
  noise: fc.subarray([...NOISE]),
  isReversed: fc.boolean(),
});

/** Draws the truth and the parts of an answer that carry it, and renders it in one of upstream's layouts with noise. */
const corpusCases: fc.Arbitrary<CorpusCase> = drawn.map((draw) => {
  const carriers = carriersOf(draw);
  const stateOf = new Map(carriers.map((carrier, index) => [carrier, draw.states[index] ?? 'absent']));
  const usable = carriers.filter((carrier) => stateOf.get(carrier) === 'usable');
  const answers: Record<string, unknown> = { page: {}, about: {} };
  for (const path of partsWithoutData(draw)) put(answers, `${path}.trackingParams`, 'x');
  for (const [index, carrier] of carriers.entries()) {
    const state = stateOf.get(carrier);
    if (state === 'usable') put(answers, carrier.at, carrier.render(draw.truth));
    if (state === 'unusable') put(answers, carrier.at, junkFor(carrier.field, draw.junk[index] ?? 0));
  }
  for (const noise of draw.noise) addNoise(answers, noise, draw.layout);
  return {
    // Converted through JSON like real answers: gaps in lists become nulls.
    answers: {
      ...(JSON.parse(JSON.stringify(draw.isReversed ? reverseHeaderRows(answers) : answers)) as ChannelAnswers),
      isAboutLost: draw.about === 'lost',
      requestedId: draw.truth.channelId,
    },
    expected: expectedRecord(draw, usable, carriers),
  };
});

function carriersOf({ layout, hasMetadata, hasMicroformat, about }: Drawn): Carrier[] {
  return [
    ...LAYOUTS[layout],
    ...(hasMetadata ? METADATA_CARRIERS : []),
    ...(hasMicroformat ? MICROFORMAT_CARRIERS : []),
    ...(about === 'panel' ? PANEL_CARRIERS : []),
  ];
}

/** Parts that exist whether or not one of their carriers does. */
function partsWithoutData({ layout, about }: Drawn): string[] {
  const marker = LAYOUT_MARKERS[layout];
  return [
    ...(marker === undefined ? [] : [marker]),
    ...(layout === 'c4WithAboutTab' ? [TAB_MARKER] : []),
    ...(about === 'panel' ? [PANEL] : []),
  ];
}

function junkFor(field: CarriedField, choice: number): unknown {
  const junk = JUNK[field];
  return junk[choice % junk.length];
}

function reverseHeaderRows(answers: Record<string, unknown>): unknown {
  const text = JSON.stringify(answers);
  return JSON.parse(text, (key, value: unknown) =>
    (key === 'metadataRows' || key === 'metadataParts') && Array.isArray(value) ? value.toReversed() : value,
  );
}

function expectedRecord(draw: Drawn, usable: readonly Carrier[], all: readonly Carrier[]): ExpectedRecord | undefined {
  const { truth } = draw;
  const carries = (field: CarriedField) => usable.some((carrier) => carrier.field === field);
  const ifCarried = (field: CarriedField, value: string) => (carries(field) ? value : null);
  const isTitled = usable.some(
    ({ field, at }) => field === 'title' && TITLED_PARTS.some((part) => at.startsWith(part)),
  );
  if (!carries('title') || !(carries('channelId') || isTitled)) return undefined;
  return {
    channelId: truth.channelId,
    title: truth.title,
    description: ifCarried('description', truth.description),
    customUrl: ifCarried('customUrl', truth.customUrl),
    publishedAt: ifCarried('publishedAt', truth.joined.iso),
    country: ifCarried('country', truth.country.code),
    subscriberCount: ifCarried('subscriberCount', truth.subscribers.value),
    viewCount: ifCarried('viewCount', truth.views.value),
    videoCount: carries('videoCount') ? truth.videos.value : ifCarried('roundedVideoCount', truth.roundedVideos.value),
    links: expectedLinks(draw, usable, all),
    bannerKey: ifCarried('banner', truth.bannerBase),
    avatarKey: ifCarried('avatar', truth.avatarBase),
  };
}

/** The panel takes precedence over the tab. If it has no list, there are no links. */
function expectedLinks(draw: Drawn, usable: readonly Carrier[], all: readonly Carrier[]): Channel['links'] {
  const parts = [...(draw.about === 'panel' ? [PANEL] : []), ...(draw.layout === 'c4WithAboutTab' ? [TAB_MARKER] : [])];
  for (const part of parts) {
    const index = all.findIndex(({ field, at }) => field === 'links' && at.startsWith(part));
    const carrier = all[index];
    if (carrier !== undefined && usable.includes(carrier)) {
      return draw.truth.links.map(({ title, url }) => ({ title, url: new URL(url).href }));
    }
    if (draw.states[index] === 'absent') return [];
  }
  return null;
}

const CASES = process.env.CI ? 10_000 : 1_000;
/** Enough for every rule to be the only one that carries its field. */
const CASES_PER_RULE = 5_000;

function parse({ page, about, isAboutLost, requestedId }: ChannelAnswers, layouts: ChannelLayouts) {
  const values = isAboutLost ? 'lost' : readPanel(about, layouts).fields;
  return buildRecord({ page: readPage(page, layouts), about: values, requestedId }, () => {}, layouts);
}

function parseCase({ answers }: CorpusCase, layouts: ChannelLayouts = CHANNEL_LAYOUTS): ExpectedRecord | undefined {
  const loaded = parse(answers, layouts);
  if (loaded === undefined) return undefined;
  const { banner, avatar, ...fields } = loaded.channel;
  return { ...fields, bannerKey: banner?.key ?? null, avatarKey: avatar?.key ?? null };
}

describe('the corpus of generated answers', () => {
  it(`gives the truth wherever an answer carries it, in ${CASES} cases`, () => {
    let records = 0;
    fc.assert(
      fc.property(corpusCases, (corpusCase) => {
        expect(parseCase(corpusCase)).toEqual(corpusCase.expected);
        if (corpusCase.expected !== undefined) records += 1;
      }),
      { numRuns: CASES },
    );
    expect(records, 'cases with a record').toBeGreaterThan(CASES / 4);
  });

  const rules = CHANNEL_FIELDS.flatMap((field) => CHANNEL_LAYOUTS[field].map((path) => ({ field, path })));

  it.each(rules)('has cases that fail without the rule for $field at $path', ({ field, path }) => {
    const layouts = { ...CHANNEL_LAYOUTS, [field]: CHANNEL_LAYOUTS[field].filter((other) => other !== path) };
    const outcome = fc.check(
      fc.property(corpusCases, (corpusCase) => {
        expect(parseCase(corpusCase, layouts)).toEqual(corpusCase.expected);
      }),
      { numRuns: CASES_PER_RULE, endOnFailure: true },
    );
    expect(outcome.failed).toBe(true);
  });

  it('never makes the parser throw when a node of an answer is replaced by another value', () => {
    fc.assert(
      fc.property(corpusCases, fc.nat(), fc.jsonValue(), ({ answers }, choice, replacement) => {
        const parseReplaced = () => parse(replaceNode(answers, choice, replacement), CHANNEL_LAYOUTS);
        expect(parseReplaced).not.toThrow();
      }),
      { numRuns: CASES },
    );
  });
});

function replaceNode(answers: ChannelAnswers, choice: number, replacement: unknown): ChannelAnswers {
  const text = JSON.stringify({ page: answers.page, about: answers.about });
  let nodes = 0;
  JSON.parse(text, (_key, value: unknown) => {
    nodes += 1;
    return value;
  });
  let left = choice % nodes;
  const replaced = JSON.parse(text, (_key, value: unknown) => (left-- === 0 ? replacement : value)) as object;
  return { ...answers, ...replaced };
}
