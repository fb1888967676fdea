import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogOfTitles } from '../../../test/helpers/catalog-titles.ts';
import { createTextSearch } from './search.ts';

const LIMITS: Parameters<typeof createTextSearch>[1] = {
  channelsOfCommonWords: [6, 16],
  maxTerms: 4,
  maxReadChannels: 5,
};

function search(titles: readonly string[], limits = LIMITS) {
  return createTextSearch(catalogOfTitles(titles), limits);
}

function rowsWith(titles: readonly string[], word: string): number[] {
  const startsWithWord = (title: string) => title.split(' ').some((part) => part.startsWith(word));
  return [...titles.keys()].filter((row) => startsWithWord(titles[row] as string));
}

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

describe('a search for several words', () => {
  it('finds all channels of a rare word, and the channels that are among the first of each common word', () => {
    const words = ['alpha', 'alps', 'beta', 'gamma', 'rare'];
    const title = fc.subarray(words, { minLength: 1 }).map((parts) => parts.join(' '));
    const query = fc.subarray(['alp', 'alpha', 'beta', 'gam', 'rare'], { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.array(title, { maxLength: 40 }),
        query,
        fc.integer({ min: 1, max: 10 }),
        (titles, asked, limit) => {
          const find = search(titles);
          const distinct = asked.filter((word) => !asked.some((other) => other !== word && other.startsWith(word)));
          const ofWords = distinct.map((word) => rowsWith(titles, word));
          const all = (ofWords[0] as number[]).filter((row) => ofWords.every((rows) => rows.includes(row)));
          const known = Math.ceil(16 / ofWords.length);
          const isWhole = ofWords.length === 1 || ofWords.some(({ length }) => length <= known);
          // Up to here, the first channels of each word are known.
          const knownTo = isWhole ? titles.length : Math.min(...ofWords.map((rows) => rows[known - 1] as number));
          const found = find(asked.join(' '), limit);
          expect(found).toEqual(all.filter((row) => found.includes(row)));
          const certain = all.filter((row) => row <= knownTo).slice(0, limit);
          expect(found.slice(0, certain.length)).toEqual(certain);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('ends early when no channel has them all', () => {
    const titles = times(100, (number) => `${number % 2 ? 'alpha' : 'beta'}${number === 99 ? ' beta' : ''}`);
    expect(search(titles)('alpha beta', 20)).toEqual([]);
    expect(search(titles, { ...LIMITS, channelsOfCommonWords: [6, 100] })('alpha beta', 20)).toEqual([99]);
  });
});

describe('a search for a long prefix', () => {
  const titles = times(10, (number) => `beginnings${number} beginning`);

  it('finds every word with the prefix, up to a number of different words', () => {
    const find = search(titles);
    expect(find('beginning', 20)).toHaveLength(10);
    expect(find('beginnings', 20)).toEqual([0, 1, 2, 3]);
    expect(find('beginnings9', 20)).toEqual([9]);
    expect(find('beginnings77', 20)).toEqual([]);
    expect(find('beginni', 20)).toHaveLength(10);
  });

  it('finds fewer words with each prefix of several', () => {
    const several = times(10, (number) => `beginnings${number} different${number}`);
    expect(search(several)('beginnings different', 20)).toEqual([0, 1]);
    expect(search(several)('beginnings9 different9', 20)).toEqual([9]);
  });

  it('finds words that SQLite folds further', () => {
    expect(search(['Καλλιτέχνης'])('Καλλιτέχνης', 20)).toEqual([0]);
  });
});

describe('a search for adjacent characters of an unspaced script', () => {
  it('finds them if both are common, and not if they are apart', () => {
    const titles = times(60, (number) => (number % 5 === 0 ? '星図' : '図と星'));
    expect(search(titles)('星図', 20)).toEqual([0]);
    const more = search(titles, { ...LIMITS, channelsOfCommonWords: [6, 100], maxReadChannels: 30 });
    expect(more('星図', 20)).toEqual([0, 5, 10, 15, 20, 25]);
    expect(more('星図', 2)).toEqual([0, 5]);
  });
});
