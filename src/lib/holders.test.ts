import { expect, test } from 'vitest';
import { createHolders } from './holders.ts';

test('holders are read each time, with the figures that apply', () => {
  const holders = createHolders();
  let entries = 1;
  holders.add('a queue', () => ({ entries, maxEntries: 5 }));
  holders.add('a cache', () => ({ entries, bytes: 300, maxBytes: 1_000, evicted: 7 }));
  entries = 2;
  expect(holders.read()).toEqual([
    { name: 'a queue', entries: 2, maxEntries: 5 },
    { name: 'a cache', entries: 2, bytes: 300, maxBytes: 1_000 },
  ]);
});

test('two holders cannot have the same name', () => {
  const holders = createHolders();
  holders.add('a queue', () => ({ entries: 0 }));
  expect(() => holders.add('a queue', () => ({ entries: 1 }))).toThrow('a queue');
});
