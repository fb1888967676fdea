import { expect, test } from 'vitest';
import { either, fields, listOf, nullOr, numberIn, oneOf, text, trueOrFalse } from './schema.ts';

interface Part {
  readonly name: string;
  readonly size: number | null;
  readonly isOpen: boolean;
  readonly kinds: readonly ('a' | 'b')[];
}

const isPart = fields<Part>({
  name: text(/^[a-z]+$/),
  size: nullOr(numberIn(0, 10)),
  isOpen: trueOrFalse,
  kinds: listOf(oneOf(['a', 'b'])),
});
const PART: Part = { name: 'part', size: 3, isOpen: true, kinds: ['a', 'b'] };

test('an object with all fields in their types fits, with or without further fields', () => {
  expect(isPart(PART)).toBe(true);
  expect(isPart({ ...PART, size: null, kinds: [], more: 1 })).toBe(true);
});

test.each([
  ['null', null],
  ['a text', 'part'],
  ['a list', []],
  ['an empty object', {}],
  ['a field of another type', { ...PART, isOpen: 'true' }],
  ['a text that does not match', { ...PART, name: 'Part' }],
  ['a number out of range', { ...PART, size: 11 }],
  ['no number', { ...PART, size: Number.NaN }],
  ['an infinite number', { ...PART, size: Number.POSITIVE_INFINITY }],
  ['null where a value is needed', { ...PART, name: null }],
  ['an object in place of a list', { ...PART, kinds: { length: 0 } }],
  ['a list with an item of the wrong type', { ...PART, kinds: ['a', 'c'] }],
  ['a missing field', { name: 'part', size: 3, isOpen: true }],
])('%s does not fit', (_what, value) => {
  expect(isPart(value)).toBe(false);
});

test('either of two types fits', () => {
  const isTextOrPart = either(text(), isPart);
  expect([isTextOrPart('x'), isTextOrPart(PART), isTextOrPart(1)]).toEqual([true, true, false]);
});
