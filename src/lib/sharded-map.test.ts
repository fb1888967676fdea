import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyedHash } from './keyed-hash.ts';
import { createShardedMap, type ShardedMap } from './sharded-map.ts';

const SHARDS = 64;
const KEYS = SHARDS * 256;

/** A hash with the same coefficients in every run, so that a distribution is measured and not drawn. */
function createRepeatableHash(seed: number) {
  const coefficients = new Uint32Array(256).map((_, at) =>
    createHash('sha256').update(`${seed} ${at}`).digest().readUInt32LE(),
  );
  return createKeyedHash(coefficients);
}

function keysOf(makeKey: (number: number) => string): string[] {
  return Array.from({ length: KEYS }, (_, number) => makeKey(number));
}

function filled(keys: readonly string[], map: ShardedMap<number>): ShardedMap<number> {
  keys.forEach((key, number) => {
    map.set(key, number);
  });
  return map;
}

const hex = (number: number) => number.toString(16).padStart(4, '0');

describe('a sharded map', () => {
  it('holds what a map holds, for keys of any length', () => {
    const map = createShardedMap<string>();
    const keys = ['', 'a', 'ab', 'a\0', '\0', 'x'.repeat(10_000), `${'x'.repeat(9_999)}y`, '\u{1f4fa} ключ'];
    for (const key of keys) map.set(key, `value of ${key}`);
    expect(keys.map((key) => map.get(key))).toEqual(keys.map((key) => `value of ${key}`));
    expect(map.get('b')).toBeUndefined();
    map.set('a', 'another');
    map.delete('ab');
    map.delete('absent');
    expect([map.get('a'), map.get('ab')]).toEqual(['another', undefined]);
    expect(map.stats().entries).toBe(keys.length - 1);
  });

  it.each([
    ['IPv6 networks of one /48, which end alike', (number: number) => `2001:db8:17:${number.toString(16)}::/64`],
    ['IPv6 networks that differ in the middle', (number: number) => `2001:${hex(number)}:0:1::/64`],
    ['IPv4 addresses in order', (number: number) => `10.7.${number >> 8}.${number & 255}`],
    ['IPv4 addresses that end alike', (number: number) => `${number >> 8}.${number & 255}.0.1`],
    [
      'digests of which the first half is shared',
      (number: number) => `${'0'.repeat(32)}${hex(number).padEnd(32, '0')}`,
    ],
    ['digests of which the last half is shared', (number: number) => `${hex(number).padEnd(32, '0')}${'0'.repeat(32)}`],
    ['numbers', (number: number) => String(number)],
    ['long keys that differ at the front', (number: number) => `${number} ${'x'.repeat(200)}`],
    ['long keys that differ at the end', (number: number) => `${'x'.repeat(200)} ${number}`],
  ])('spreads %s', (_, makeKey) => {
    const keys = keysOf(makeKey);
    const largest = [1, 2, 3].map(
      (seed) => filled(keys, createShardedMap(createRepeatableHash(seed))).stats().largestShardEntries,
    );
    expect(Math.max(...largest)).toBeLessThan((KEYS / SHARDS) * 2);
  });

  it('spreads keys that were chosen to share a shard of another map', () => {
    const known = createRepeatableHash(1);
    const chosen = Array.from({ length: KEYS * 4 }, (_, number) => `2001:db8:${hex(number)}::/64`).filter(
      (key) => known(key) >>> 26 === 0,
    );
    expect(filled(chosen, createShardedMap(known)).stats().largestShardEntries).toBe(chosen.length);
    const other = filled(chosen, createShardedMap(createRepeatableHash(2))).stats();
    expect(other.largestShardEntries).toBeLessThan((chosen.length / SHARDS) * 2.5);
  });

  it('draws its own hash, so that nobody can know where a key falls', () => {
    const keys = keysOf((number) => `2001:db8:${hex(number)}::/64`).slice(0, 1_000);
    const [first, second] = [createKeyedHash(), createKeyedHash()].map((hash) => keys.map(hash));
    expect(first).not.toEqual(second);
  });
});
