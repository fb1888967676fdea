import { describe, expect, it } from 'vitest';
import { valuesAt, valuesNamed } from './json.ts';

describe('values at a path', () => {
  it('are found in document order', () => {
    expect(valuesAt({ a: { b: [{ c: 1 }, 'x', null, { c: 2 }, { d: 3 }] } }, 'a.b.*.c')).toEqual([1, 2]);
  });

  it.each<[string, unknown]>([
    ['in one more object', { a: { moved: { b: [{ c: 1 }] } } }],
    ['in one more list', { a: [{ b: [[{ c: 1 }]] }] }],
    ['in an object with indexes', { a: { b: { '0': { c: 1 } } } }],
    ['in a prototype', { a: Object.create({ b: [{ c: 1 }] }) as unknown }],
  ])('are not found %s', (_where, root) => {
    expect(valuesAt(root, 'a.b.*.c')).toEqual([]);
  });
});

describe('values of a name', () => {
  const nested = (depth: number): unknown => (depth === 0 ? { wanted: 'deep' } : [nested(depth - 1)]);

  it('are found in document order, 100 levels deep', () => {
    const root = [{ wanted: { wanted: 'inside' } }, nested(99), nested(100), { wanted: 'last' }];
    expect(valuesNamed(root, 'wanted')).toEqual([{ wanted: 'inside' }, 'inside', 'deep', 'last']);
  });

  it('are not looked for after 500,000 objects', () => {
    const many = Array.from({ length: 500_000 }, () => ({}));
    expect(valuesNamed([{ wanted: 'first' }, many, { wanted: 'last' }], 'wanted')).toEqual(['first']);
  });
});
