import { describe, expect, it } from 'vitest';
import { foldText, indexedText, matchExpression } from './search.ts';

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

describe('matchExpression', () => {
  it('asks for every word as the beginning of one', () => {
    expect(matchExpression('Slow Súp')).toBe('"slow" * AND "sup" *');
  });

  it('leaves out a word that another one implies', () => {
    expect(matchExpression('c co cook')).toBe('"cook" *');
  });

  it('keeps characters of an unspaced script together', () => {
    expect(matchExpression('星図')?.replaceAll(/\s+/g, ' ')).toBe('" 星 図 " *');
  });

  it('has no word to ask for in punctuation and emoji', () => {
    expect(matchExpression('"*^:(){}- 🎉')).toBeUndefined();
  });

  it('asks for no more than ten words', () => {
    expect(matchExpression('a b c d e f g h i j k l m')?.split(' AND ')).toHaveLength(10);
  });
});
