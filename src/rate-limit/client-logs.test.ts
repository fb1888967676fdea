import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createClientLogs, createKeyedHash, type KeyedHash, NONE } from './client-logs.ts';

test('logs are found as in a map after any additions and removals', () => {
  const step = fc.record({ client: fc.integer({ min: 0, max: 60 }), limit: fc.integer({ min: 0, max: 1 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      // Two buckets, so that most logs share theirs.
      const logs = createClientLogs(2);
      const expected = new Map<string, number>();
      for (const { client, limit } of steps) {
        const key = `${client} ${limit}`;
        const known = expected.get(key);
        if (known === undefined) {
          expected.set(key, logs.add(`192.0.2.${client}`, limit));
        } else {
          logs.remove(known);
          expected.delete(key);
        }
        for (const asked of steps) {
          const found = logs.find(`192.0.2.${asked.client}`, asked.limit);
          expect(found).toBe(expected.get(`${asked.client} ${asked.limit}`) ?? NONE);
        }
      }
      expect(new Set(expected.values()).size).toBe(expected.size);
    }),
    { numRuns: 50 },
  );
});

test('a fingerprint depends on every character, in texts of any length', () => {
  const logs = createClientLogs(100);
  const texts = ['', '\0', 'a', 'b', 'ab', 'ba', `${'x'.repeat(999)}y`, `y${'x'.repeat(999)}`, 'x'.repeat(1_000)];
  const records = texts.map((text) => logs.add(text, 0));
  expect(texts.map((text) => logs.find(text, 0))).toEqual(records);
  expect(new Set(records).size).toBe(texts.length);
});

const GROUP_BITS = 6;
const GROUPS = 1 << GROUP_BITS;
const KEYS = GROUPS * 256;

/** A hash with the same coefficients in every run, so that the measured distribution is reproducible. */
function createRepeatableHash(seed: number): KeyedHash {
  const coefficients = new Uint32Array(256).map((_, at) =>
    createHash('sha256').update(`${seed} ${at}`).digest().readUInt32LE(),
  );
  return createKeyedHash(coefficients);
}

function keysOf(makeKey: (number: number) => string): string[] {
  return Array.from({ length: KEYS }, (_, number) => makeKey(number));
}

/** The upper bits select the group. */
function groupOf(hashed: number): number {
  return hashed >>> (32 - GROUP_BITS);
}

function largestGroup(keys: readonly string[], hash: KeyedHash): number {
  const sizes = new Uint32Array(GROUPS);
  for (const key of keys) {
    const group = groupOf(hash(key));
    sizes[group] = (sizes[group] as number) + 1;
  }
  return Math.max(...sizes);
}

const hex = (number: number) => number.toString(16).padStart(4, '0');

describe('a keyed hash', () => {
  it('depends on every character, in texts of any length', () => {
    const texts = ['', 'a', 'ab', 'a\0', '\0', 'x'.repeat(10_000), `${'x'.repeat(9_999)}y`, '\u{1f4fa} ключ'];
    expect(new Set(texts.map(createRepeatableHash(1))).size).toBe(texts.length);
  });

  it.each([
    ['IPv6 networks of one /48, which end alike', (number: number) => `2001:db8:17:${number.toString(16)}::/64`],
    ['IPv6 networks that differ in the middle', (number: number) => `2001:${hex(number)}:0:1::/64`],
    ['IPv4 addresses in order', (number: number) => `10.7.${number >> 8}.${number & 255}`],
    ['IPv4 addresses that end alike', (number: number) => `${number >> 8}.${number & 255}.0.1`],
    ['digests with the same first half', (number: number) => `${'0'.repeat(32)}${hex(number).padEnd(32, '0')}`],
    ['digests with the same second half', (number: number) => `${hex(number).padEnd(32, '0')}${'0'.repeat(32)}`],
    ['numbers', (number: number) => String(number)],
    ['long keys that differ at the front', (number: number) => `${number} ${'x'.repeat(200)}`],
    ['long keys that differ at the end', (number: number) => `${'x'.repeat(200)} ${number}`],
  ])('spreads %s', (_, makeKey) => {
    const keys = keysOf(makeKey);
    const largest = [1, 2, 3].map((seed) => largestGroup(keys, createRepeatableHash(seed)));
    expect(Math.max(...largest)).toBeLessThan((KEYS / GROUPS) * 2);
  });

  it('spreads keys that were chosen to collide with other coefficients', () => {
    const known = createRepeatableHash(1);
    const chosen = Array.from({ length: KEYS * 4 }, (_, number) => `2001:db8:${hex(number)}::/64`).filter(
      (key) => groupOf(known(key)) === 0,
    );
    expect(largestGroup(chosen, known)).toBe(chosen.length);
    expect(largestGroup(chosen, createRepeatableHash(2))).toBeLessThan((chosen.length / GROUPS) * 2.5);
  });

  it('has random coefficients, so that nobody can know the hash of a key', () => {
    const keys = keysOf((number) => `2001:db8:${hex(number)}::/64`).slice(0, 1_000);
    const [first, second] = [createKeyedHash(), createKeyedHash()].map((hash) => keys.map(hash));
    expect(first).not.toEqual(second);
  });
});
