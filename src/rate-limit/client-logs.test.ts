import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClientIndex } from './client-logs.ts';
import { createRecords, FIELD_COUNT, NONE } from './records.ts';

test('the index finds what a map would, whatever is added and removed', () => {
  const step = fc.record({ client: fc.integer({ min: 0, max: 60 }), limit: fc.integer({ min: 0, max: 1 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const index = createClientIndex(createRecords(FIELD_COUNT));
      const expected = new Map<string, number>();
      for (const { client, limit } of steps) {
        const key = `${client} ${limit}`;
        const known = expected.get(key);
        if (known === undefined) {
          expected.set(key, index.add(`192.0.2.${client}`, limit));
        } else {
          index.remove(known);
          expected.delete(key);
        }
        for (const asked of steps) {
          const found = index.find(`192.0.2.${asked.client}`, asked.limit);
          expect(found).toBe(expected.get(`${asked.client} ${asked.limit}`) ?? NONE);
        }
      }
      expect(new Set(expected.values()).size).toBe(expected.size);
    }),
    { numRuns: 50 },
  );
});

test('a fingerprint depends on every character, in texts of any length', () => {
  const index = createClientIndex(createRecords(FIELD_COUNT));
  const texts = ['', '\0', 'a', 'b', 'ab', 'ba', `${'x'.repeat(999)}y`, `y${'x'.repeat(999)}`, 'x'.repeat(1_000)];
  const records = texts.map((text) => index.add(text, 0));
  expect(texts.map((text) => index.find(text, 0))).toEqual(records);
  expect(new Set(records).size).toBe(texts.length);
});
