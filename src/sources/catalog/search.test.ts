import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogLine, importLines } from '../../../test/helpers/catalog.ts';
import { catalogOfTitles } from '../../../test/helpers/catalog-titles.ts';
import { numberedChannelId } from '../../../test/helpers/fake-source.ts';
import { runsOf } from '../../../test/helpers/runs.ts';
import { foldText } from './folded-text.ts';
import { type CatalogReader, openForReading } from './reader.ts';
import { catalogPaths } from './schema.ts';
import { createCatalogSearch } from './search.ts';

const CHANNELS = [
  catalogLine(1, { title: 'Cook', subscriberCount: '10' }),
  catalogLine(2, { title: 'Cook', subscriberCount: null }),
  catalogLine(3, { title: 'Cooking with Ann', customUrl: '@ann.cooks', subscriberCount: '500' }),
  catalogLine(4, { title: 'Cookbook club', subscriberCount: '700' }),
  catalogLine(5, { title: 'The Cook', subscriberCount: '9000000000' }),
  catalogLine(6, { title: 'Garden', description: 'Things to cook', subscriberCount: '1000' }),
  catalogLine(7, { title: 'Something else', customUrl: '@cook', subscriberCount: '3' }),
  catalogLine(8, { title: 'Élan Café', description: 'naïve', customUrl: '@elan', username: 'elanfilms' }),
  catalogLine(9, { title: '星図アトラス', customUrl: '@星図', description: '毎晩の星空' }),
  catalogLine(10, { title: '🎉 Party!!', subscriberCount: '1' }),
  catalogLine(11, { title: 'हिन्दी समाचार' }),
  // The word is once in a long text and once in a short one, which SQLite would rank higher.
  catalogLine(12, {
    title: 'Flowers',
    description: `A tulip ${'among many other plants '.repeat(20)}`,
    subscriberCount: '2',
  }),
  catalogLine(13, { title: 'Bulbs', description: 'Tulip, tulip, tulip', subscriberCount: '1' }),
];

let directory: string;
let catalog: CatalogReader;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pennant-search-'));
  expect((await importLines(directory, CHANNELS)).refusals).toEqual([]);
  const opened = openForReading(catalogPaths(directory).database);
  if (opened === undefined) throw new Error('the catalog has no tables');
  catalog = opened;
});
afterAll(async () => {
  catalog.close();
  await rm(directory, { recursive: true });
});

const found = (query: string, limit = 20) =>
  catalog.search(query, limit).map(({ channelId }) => Number(channelId.slice(2)));

describe('a search in the catalog', () => {
  it('lists exact handles and titles first, then titles with this beginning, then other text, each by subscribers', () => {
    expect(found('cook')).toEqual([1, 7, 2, 4, 3, 5, 6]);
    expect(found('tulip')).toEqual([12, 13]);
    expect(found('tulip', 1)).toEqual([12]);
    expect(found('COOK', 3)).toEqual([1, 7, 2]);
    expect(found('cook', 5)).toEqual([1, 7, 2, 4, 3]);
  });

  it.each([
    ['elan cafe', [8]],
    ['ÉLAN', [8]],
    ['naive', [8]],
    ['caf', [8]],
    ['ann coo', [3]],
    ['星', [9]],
    ['アトラ', [9]],
    ['図星', []],
    ['星空', [9]],
    ['समाचार', [11]],
    ['🎉', [10]],
    ['🎉 party!!', [10]],
    ['the cook garden', []],
    ['"', []],
    ['cook"', [1, 2, 3, 4, 5, 6, 7]],
    ['NOT cook', []],
    ['title: cook', []],
    ['^cook', [5, 4, 6, 3, 1, 7, 2]],
  ])('finds the expected channels with %s', (query, expected) => {
    expect(found(query).sort()).toEqual(expected.sort());
  });

  it('returns the fields of a hit', () => {
    expect(catalog.search('elan', 1)).toEqual([
      {
        channelId: numberedChannelId(8),
        title: 'Élan Café',
        description: 'naïve',
        customUrl: '@elan',
        subscriberCount: null,
        videoCount: null,
        banner: 'absent',
        avatar: 'absent',
      },
    ]);
  });

  it('never fails, and never returns too many channels or one twice, whatever the text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }),
      fc.string({ unit: fc.constantFrom(...'"\'*^:(){}[]-+ANDORT cook%_\u0301星🎉\0'), minLength: 1, maxLength: 100 }),
    );
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (query, limit) => {
        const numbers = found(query, limit);
        expect(numbers.length).toBeLessThanOrEqual(limit);
        expect(new Set(numbers).size).toBe(numbers.length);
      }),
      { numRuns: runsOf(2_000) },
    );
  });
});

describe('a search for the beginning of many titles', () => {
  const limits = { fewTitles: 3, candidates: 6, sortedTitles: 8 };

  const search = (titles: readonly string[]) => createCatalogSearch(catalogOfTitles(titles), limits);

  it('finds those with the most subscribers, of any number of titles', () => {
    const titles = Array.from({ length: 40 }, (_, row) => `Same ${99 - row}`);
    expect(search(titles)('same', 5)).toEqual([0, 1, 2, 3, 4]);
    expect(search(titles)('same 9', 3)).toEqual([0, 1, 2]);
  });

  it.each([
    ['with other words before', '«Star-gazing» now', 'star'],
    ['in a script without spaces', '星図アトラス', '星図'],
    ['with a word longer than the index has', 'Astronomical society', 'astronomical'],
    ['with punctuation, which the index does not have', 'C++ for all', 'c++'],
    ['without any word', '🎉🎉', '🎉'],
  ])('finds them %s', (_what, title, query) => {
    const others = Array.from({ length: 3 }, () => `Not ${title}`);
    const alike = Array.from({ length: 7 }, (_, number) => `${title} ${number}`);
    const begins = [...others, ...alike].flatMap((each, row) => (foldText(each).startsWith(query) ? [row] : []));
    expect(search([...others, ...alike])(query, 7).slice(0, begins.length)).toEqual(begins);
  });

  it('is exact for as many titles as are sorted, and otherwise for those that are near the top', () => {
    const title = fc.constantFrom('alpha', 'alpha beta', 'alpha-beta', 'alpine', 'beta alpha', 'gamma alpha', 'gamma');
    const query = fc.constantFrom('a', 'al', 'alpha', 'alpha b', 'alpha-', 'alpi');
    fc.assert(
      fc.property(fc.array(title, { maxLength: 40 }), query, fc.integer({ min: 1, max: 5 }), (titles, asked, limit) => {
        const found = search(titles.map((each, row) => `${each} ${row}`))(asked, limit);
        const begins = titles.flatMap((each, row) => (`${each} ${row}`.startsWith(asked) ? [row] : []));
        const words = asked.split(/\W/).join(' ').trim();
        const candidates = titles
          .flatMap((each, row) => (each.replace('-', ' ').startsWith(words) ? [row] : []))
          .slice(0, limits.candidates);
        const certain =
          begins.length <= limits.sortedTitles ? begins : begins.filter((row) => candidates.includes(row));
        const first = found.slice(0, Math.min(limit, begins.length));
        expect(first).toEqual(first.filter((row) => begins.includes(row)).sort((left, right) => left - right));
        expect(first.slice(0, certain.length)).toEqual(certain.slice(0, limit));
      }),
      { numRuns: runsOf(300) },
    );
  });
});
