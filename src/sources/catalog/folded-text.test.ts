import { describe, expect, it } from 'vitest';
import { foldText, indexedText } from './folded-text.ts';
import { queryWords } from './text-search.ts';

describe('foldText', () => {
  it.each([
    ['Höhenkamm', 'hohenkamm'],
    ['  CAFÉ \t Olé ', 'cafe ole'],
    ['İstanbul', 'istanbul'],
    ['ﬁn', 'fin'],
    ['Ёлка', 'елка'],
  ])('makes %s and its plain spelling the same', (text, folded) => {
    expect(foldText(text)).toBe(folded);
  });

  it('keeps the marks that tell words apart in other scripts', () => {
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

  it('leaves out a word that another one implies', () => {
    expect(queryWords('c co cook')).toEqual([['cook']]);
  });

  it('keeps characters of an unspaced script together', () => {
    expect(queryWords('星図 atlas2000図')).toEqual([
      ['星', '図'],
      ['atlas2000', '図'],
    ]);
  });

  it('has no word in punctuation and emoji', () => {
    expect(queryWords('"*^:(){}- 🎉')).toEqual([]);
  });

  it('has no more than ten words', () => {
    expect(queryWords('a b c d e f g h i j k l m')).toHaveLength(10);
  });
});
