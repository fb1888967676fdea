import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../test/helpers/runs.ts';
import { foldText, hasPhrase, indexedText, tokensOf, wordsOf } from './folded-text.ts';
import { queryWords } from './search.ts';

describe('foldText', () => {
  it.each([
    ['Höhenkamm', 'hohenkamm'],
    ['  CAFÉ \t Olé ', 'cafe ole'],
    ['İstanbul', 'istanbul'],
    ['ﬁn', 'fin'],
    ['Ёлка', 'елка'],
  ])('folds %s to its plain spelling', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  it('keeps marks that distinguish words in other scripts', () => {
    expect(foldText('が')).not.toBe(foldText('か'));
    expect(foldText('की')).not.toBe(foldText('का'));
  });
});

describe('indexedText', () => {
  it('makes each character of an unspaced script a word', () => {
    expect(indexedText('星図 Atlas').split(/\s+/)).toEqual(['', '星', '図', 'atlas']);
  });
});

describe('hasPhrase', () => {
  it('is true where the index has the tokens of a word one after the other', () => {
    const characters = ['星', '図', 'か', '\u3099', 'a', 'b', 'É', '\u0301', '1', ' ', '、', '-'];
    const text = fc.string({ unit: fc.constantFrom(...characters), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (query, described) => {
        const texts = ` ${wordsOf(indexedText(described)).join(' ')}`;
        for (const tokens of wordsOf(foldText(query)).map(tokensOf)) {
          expect(hasPhrase(foldText(described), tokens)).toBe(texts.includes(` ${tokens.join(' ')}`));
        }
      }),
      {
        numRuns: runsOf(300),
        examples: [
          ['星図', 'a星、図a'],
          ['a星', 'ba星'],
          ['星a図', '星 ab 図'],
        ],
      },
    );
  });
});

describe('queryWords', () => {
  it('folds every word', () => {
    expect(queryWords('Slow Súp')).toEqual([['slow'], ['sup']]);
  });

  it('omits a word that another one implies', () => {
    expect(queryWords('c co cook')).toEqual([['cook']]);
  });

  it('keeps characters of an unspaced script together', () => {
    expect(queryWords('星図 atlas2000図')).toEqual([
      ['星', '図'],
      ['atlas2000', '図'],
    ]);
  });

  it('finds no words in punctuation and emoji', () => {
    expect(queryWords('"*^:(){}- 🎉')).toEqual([]);
  });

  it('returns at most ten words', () => {
    expect(queryWords('a b c d e f g h i j k l m')).toHaveLength(10);
  });

  it('returns at most twenty characters of an unspaced script, in all words together', () => {
    const tokens = queryWords(`図 ${'星'.repeat(50)} 空`);
    expect(tokens.map(({ length }) => length)).toEqual([1, 19]);
  });
});
