import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { createReadThrough, type Loaded } from './read-through.ts';
import type { Store, StoredEntry } from './store.ts';

const HOUR_MS = 3_600_000;
const WAIT = { staleWaitMs: 50 };

function memoryStore(): Store & { readonly entries: Map<string, StoredEntry> } {
  const entries = new Map<string, StoredEntry>();
  return {
    entries,
    get: async (key) => entries.get(key),
    set: async (key, entry) => void entries.set(key, entry),
    delete: async (key) => void entries.delete(key),
    close: async () => undefined,
  };
}

function setUp(store = memoryStore(), clock = createManualClock()) {
  const refused: string[] = [];
  const cache = createReadThrough<string>({
    isValue: (value): value is string => typeof value === 'string',
    onRefused: (key) => refused.push(key),
    store,
    clock,
    freshMs: HOUR_MS,
    staleMs: 168 * HOUR_MS,
    maxMemoryBytes: 1_000_000,
  });
  let loads = 0;
  const load =
    (value: string, more: Partial<Loaded<string>> = {}) =>
    async () => {
      loads += 1;
      return { value, ...more };
    };
  return { cache, store, clock, refused, load, loads: () => loads };
}

const fail = async () => {
  throw new AppError('upstream_unavailable', 'down');
};

describe('the read-through cache', () => {
  test('loads once however many ask at once, and says who waited for another', async () => {
    const { cache, load, loads } = setUp();
    const answers = await Promise.all(Array.from({ length: 100 }, () => cache.get('k', load('a'), WAIT)));
    expect(loads()).toBe(1);
    expect(new Set(answers.map(({ value }) => value))).toEqual(new Set(['a']));
    expect(answers.filter(({ outcome }) => outcome.isCollapsed)).toHaveLength(99);
  });

  test('answers from memory while fresh and loads anew afterwards', async () => {
    const { cache, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.advance(HOUR_MS - 1);
    expect((await cache.get('k', load('b'), WAIT)).outcome).toMatchObject({ kind: 'hit', ttlMs: 1 });
    clock.advance(1);
    expect(await cache.get('k', load('b'), WAIT)).toMatchObject({ value: 'b', outcome: { kind: 'refreshed' } });
  });

  test('finds after a restart what another instance has stored, with its age', async () => {
    const first = setUp();
    await first.cache.get('k', first.load('a'), WAIT);
    first.clock.advance(HOUR_MS / 2);
    const second = setUp(first.store, first.clock);
    const found = await second.cache.get('k', second.load('b'), WAIT);
    expect(found).toMatchObject({ value: 'a', outcome: { kind: 'hit', ttlMs: HOUR_MS / 2 } });
  });

  test('serves the last good value for seven days when loading fails, and tries again after a minute', async () => {
    const { cache, clock, load, loads } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.advance(2 * HOUR_MS);
    const stale = await cache.get('k', fail, WAIT);
    expect(stale).toMatchObject({ value: 'a', outcome: { kind: 'stale', ttlMs: -HOUR_MS } });
    expect((await cache.get('k', load('b'), WAIT)).value).toBe('a');
    expect(loads()).toBe(1);
    clock.advance(60_000);
    expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
    clock.advance(169 * HOUR_MS);
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  test('waits a moment for a new value, then serves the old one while the load goes on', async () => {
    const { cache, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.advance(HOUR_MS);
    const late = Promise.withResolvers<Loaded<string>>();
    expect((await cache.get('k', () => late.promise, WAIT)).value).toBe('a');
    late.resolve({ value: 'b' });
    await late.promise;
    await expect.poll(async () => (await cache.get('k', load('c'), WAIT)).value).toBe('b');
  });

  test('keeps "no such channel" for a minute, over an older value too', async () => {
    const { cache, clock, load } = setUp();
    const absent = async () => {
      throw new AppError('channel_not_found', 'gone');
    };
    await cache.get('k', load('a'), WAIT);
    clock.advance(HOUR_MS);
    await expect(cache.get('k', absent, WAIT)).rejects.toMatchObject({ code: 'channel_not_found', validForMs: 60_000 });
    clock.advance(15_000);
    await expect(cache.get('k', load('b'), WAIT)).rejects.toMatchObject({ validForMs: 45_000 });
    clock.advance(45_000);
    expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
  });

  test('serves the old value when the new one could be had but not looked at', async () => {
    const { cache, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.advance(2 * HOUR_MS);
    const busy = async () => {
      throw new AppError('overloaded', 'too many pictures');
    };
    expect(await cache.get('k', busy, WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'stale' } });
  });

  test('never keeps "could not tell"', async () => {
    const { cache, load } = setUp();
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect((await cache.get('k', load('a'), WAIT)).value).toBe('a');
  });

  test('takes an entry from the future for an old one', async () => {
    const { cache, store, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.jumpWallClock(-5 * HOUR_MS);
    const restarted = setUp(store, clock);
    expect((await restarted.cache.get('k', restarted.load('b'), WAIT)).value).toBe('b');
    clock.jumpWallClock(-5 * HOUR_MS);
    const again = setUp(store, clock);
    expect(await again.cache.get('k', fail, WAIT)).toMatchObject({ value: 'b', outcome: { kind: 'stale' } });
  });

  test('is not misled by a jump of the wall clock while it runs', async () => {
    const { cache, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.jumpWallClock(10 * HOUR_MS);
    expect((await cache.get('k', load('b'), WAIT)).outcome.kind).toBe('hit');
    clock.jumpWallClock(-20 * HOUR_MS);
    expect((await cache.get('k', load('b'), WAIT)).outcome.kind).toBe('hit');
  });

  test.each([
    'no json',
    '{}',
    '[]',
    'null',
    '{"value":null,"freshMs":1000}',
    '{"value":{"channel":{}},"freshMs":1000}',
    '{"value":"stored"}',
    '{"value":"stored","freshMs":1e308}',
    '{"value":"stored","freshMs":3600001}',
    '{"value":"stored","freshMs":-1}',
    '{"value":"stored","freshMs":"1000"}',
    '{"value":"stored","absent":"gone","freshMs":1000}',
    '{"absent":true,"freshMs":1000}',
    '{"absent":"gone","freshMs":60001}',
    `{"value":"${'x'.repeat(1_100_000)}","freshMs":1000}`,
    '['.repeat(100_000),
  ])('refuses what it did not write, counts it and replaces it: %#', async (value) => {
    const { cache, store, clock, refused, load } = setUp();
    store.entries.set('k', { value, storedAtMs: clock.now() });
    expect(await cache.get('k', load('a'), WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'miss' } });
    expect(refused).toEqual(['k']);
    expect(store.entries.get('k')?.value).toBe('{"value":"a","freshMs":3600000}');
  });

  test('never repeats a stored text about an absence', async () => {
    const { cache, store, clock, load } = setUp();
    const value = '{"absent":"Visit https://elsewhere.example","freshMs":60000}';
    store.entries.set('k', { value, storedAtMs: clock.now() });
    await expect(cache.get('k', load('a'), WAIT)).rejects.toMatchObject({
      code: 'channel_not_found',
      message: 'There is no such channel.',
    });
  });

  test('serves nothing that is older than its limit, however long the store keeps it', async () => {
    const { cache, store, clock } = setUp();
    store.entries.set('k', { value: '{"value":"a","freshMs":1000}', storedAtMs: clock.now() - 168 * HOUR_MS });
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  test('does not store what it is told not to, and asks for it again when its own time is over', async () => {
    const { cache, store, clock, load } = setUp();
    await cache.get('k', load('half', { freshMs: 60_000, isStorable: false }), WAIT);
    expect(store.entries.size).toBe(0);
    clock.advance(60_000);
    expect((await cache.get('k', load('whole'), WAIT)).value).toBe('whole');
  });
});
