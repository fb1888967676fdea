import { describe, expect, it } from 'vitest';
import { foldText, indexedText } from './folded-text.ts';
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
});
