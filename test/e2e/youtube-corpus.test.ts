import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHANNEL_FIELDS, CHANNEL_LAYOUTS, type ChannelLayouts } from '../../src/sources/youtube/layouts.ts';
import { readPage, readPanel } from '../../src/sources/youtube/readings.ts';
import { buildRecord } from '../../src/sources/youtube/record.ts';
import {
  type ChannelAnswers,
  type CorpusCase,
  corpusCases,
  type ExpectedRecord,
} from '../helpers/youtube-corpus/cases.ts';

const CASES = process.env.CI ? 10_000 : 1_000;
/** More than enough for every rule to be the only one that carries its field. */
const CASES_PER_RULE = 5_000;

function parse({ page, about, ...rest }: ChannelAnswers, layouts: ChannelLayouts) {
  return buildRecord({ page: readPage(page, layouts), panel: readPanel(about, layouts), ...rest }, () => {}, layouts);
}

function parseCase({ answers }: CorpusCase, layouts: ChannelLayouts = CHANNEL_LAYOUTS): ExpectedRecord | undefined {
  const loaded = parse(answers, layouts);
  if (loaded === undefined) return undefined;
  const { banner, avatar, ...fields } = loaded.channel;
  return { ...fields, bannerKey: banner?.key ?? null, avatarKey: avatar?.key ?? null };
}

describe('the corpus of made-up answers', () => {
  it(`comes out as the truth wherever something carries it, in ${CASES} cases`, () => {
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

  it.each(rules)('does not come out without the rule for $field at $path', ({ field, path }) => {
    const layouts = { ...CHANNEL_LAYOUTS, [field]: CHANNEL_LAYOUTS[field].filter((other) => other !== path) };
    const outcome = fc.check(
      fc.property(corpusCases, (corpusCase) => {
        expect(parseCase(corpusCase, layouts)).toEqual(corpusCase.expected);
      }),
      { numRuns: CASES_PER_RULE, endOnFailure: true },
    );
    expect(outcome.failed).toBe(true);
  });

  it('never throws, whichever node of an answer is replaced by whatever else', () => {
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
