import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { changeOfChannels, createChanges } from './changes.ts';
import { channelIdsIn } from './keys.ts';
import { createReadThrough, type Loaded } from './read-through.ts';
import type { Store, StoredEntry } from './store.ts';

const HOUR_MS = 3_600_000;
const WAIT = { staleWaitMs: 50 };

interface TestStore extends Store {
  readonly entries: Map<string, StoredEntry>;
  /** How long each was to be kept when it was last written. */
  readonly ttlsMs: Map<string, number>;
  /** Keys that were looked up. */
  readonly reads: string[];
}

function memoryStore({ isShared = false } = {}): TestStore {
  const entries = new Map<string, StoredEntry>();
  const ttlsMs = new Map<string, number>();
  const reads: string[] = [];
  return {
    isShared,
    entries,
    ttlsMs,
    reads,
    async get(key) {
      reads.push(key);
      return entries.get(key);
    },
    async set(key, entry, ttlMs) {
      entries.set(key, entry);
      ttlsMs.set(key, ttlMs);
    },
    delete: async (key) => void entries.delete(key),
    close: async () => undefined,
  };
}

function setUp(store = memoryStore(), clock = createManualClock()) {
  const changes = createChanges();
  const refused: string[] = [];
  const cache = createReadThrough<string>({
    isValue: (value): value is string => typeof value === 'string',
    onRefused: (key) => refused.push(key),
    channelIdsOf: channelIdsIn,
    changes,
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
  return { cache, changes, store, clock, refused, load, loads: () => loads };
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

  test('does not load again what was loaded during a slow look-up in the store', async () => {
    const store = memoryStore();
    const lookUps = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const held = lookUps.values();
    const { cache, load, loads } = setUp({ ...store, get: async () => held.next().value?.promise });
    const [first, second] = [cache.get('k', load('a'), WAIT), cache.get('k', load('a'), WAIT)];
    lookUps[0]?.resolve(undefined);
    expect((await first).outcome).toMatchObject({ kind: 'miss' });
    lookUps[1]?.resolve(undefined);
    expect(await second).toMatchObject({ value: 'a', outcome: { kind: 'hit' } });
    expect(loads()).toBe(1);
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
    const waiting = cache.get('k', () => late.promise, WAIT);
    await clock.passTimer(WAIT.staleWaitMs);
    expect((await waiting).value).toBe('a');
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

  test('is as old as it really is after the machine was suspended', async () => {
    const { cache, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    // The monotonic clock stands still in the meantime.
    clock.jumpWallClock(HOUR_MS);
    expect(await cache.get('k', load('b'), WAIT)).toMatchObject({ value: 'b', outcome: { kind: 'refreshed' } });
    clock.jumpWallClock(169 * HOUR_MS);
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  test('is no younger when the wall clock is set back', async () => {
    const { cache, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.jumpWallClock(-20 * HOUR_MS);
    expect((await cache.get('k', load('b'), WAIT)).outcome).toMatchObject({ kind: 'hit', ttlMs: HOUR_MS });
    clock.advance(HOUR_MS);
    expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
  });

  describe('a change of a value', () => {
    test('keeps its age, its limit and its time in the store', async () => {
      const { cache, store, clock, load } = setUp();
      const storedAtMs = clock.now();
      await cache.get('k', load('a'), WAIT);
      const ttlMs = store.ttlsMs.get('k') ?? 0;
      expect(ttlMs).toBe(168 * HOUR_MS);
      clock.advance(HOUR_MS / 2);
      await cache.patch('k', (value) => `${value} changed`);
      expect(store.entries.get('k')).toEqual({ value: '{"value":"a changed","freshMs":3600000}', storedAtMs });
      expect(store.ttlsMs.get('k')).toBe(ttlMs - HOUR_MS / 2);
      expect(await cache.get('k', fail, WAIT)).toMatchObject({ value: 'a changed', outcome: { ttlMs: HOUR_MS / 2 } });
      clock.advance(167 * HOUR_MS);
      await cache.patch('k', (value) => `${value} again`);
      clock.advance(HOUR_MS / 2);
      await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    });

    test('makes no old value fresh', async () => {
      const { cache, clock, load } = setUp();
      await cache.get('k', load('a'), WAIT);
      clock.advance(2 * HOUR_MS);
      await cache.patch('k', (value) => `${value} changed`);
      expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
    });
  });

  describe('over a store that instances share', () => {
    function setUpTwo() {
      const store = memoryStore({ isShared: true });
      const clock = createManualClock();
      return [setUp(store, clock), setUp(store, clock)] as const;
    }

    test('finds there what another instance has loaded since, before it loads', async () => {
      const [first, second] = setUpTwo();
      await first.cache.get('k', first.load('a'), WAIT);
      await second.cache.get('k', second.load('b'), WAIT);
      first.clock.advance(HOUR_MS);
      await first.cache.get('k', first.load('c'), WAIT);
      first.clock.advance(HOUR_MS / 2);
      const found = await Promise.all([1, 2].map(() => second.cache.get('k', second.load('d'), WAIT)));
      expect(found).toMatchObject([
        { value: 'c', outcome: { kind: 'hit', ttlMs: HOUR_MS / 2 } },
        { value: 'c', outcome: { kind: 'hit', ttlMs: HOUR_MS / 2 } },
      ]);
      expect([first.loads(), second.loads()]).toEqual([2, 0]);
    });

    test('finds there that a channel has appeared after all', async () => {
      const [first, second] = setUpTwo();
      const absent = async () => {
        throw new AppError('channel_not_found', 'gone');
      };
      await expect(second.cache.get('k', absent, WAIT)).rejects.toMatchObject({ code: 'channel_not_found' });
      first.clock.advance(60_000);
      await first.cache.get('k', first.load('a'), WAIT);
      expect((await second.cache.get('k', second.load('b'), WAIT)).value).toBe('a');
    });

    test('loads when what is there is old too, or does not fit what is asked for', async () => {
      const [first, second] = setUpTwo();
      await first.cache.get('k', first.load('a'), WAIT);
      await second.cache.get('k', second.load('b'), WAIT);
      first.clock.advance(HOUR_MS);
      expect((await second.cache.get('k', second.load('c'), WAIT)).value).toBe('c');
      const options = { ...WAIT, isCurrent: (value: string) => value === 'd' };
      expect((await first.cache.get('k', first.load('d'), options)).value).toBe('d');
    });

    test('looks there once for each load, and not while memory is fresh', async () => {
      const [{ cache, store, clock, load }] = setUpTwo();
      await cache.get('k', load('a'), WAIT);
      await cache.get('k', load('b'), WAIT);
      expect(store.reads).toEqual(['k']);
      clock.advance(HOUR_MS);
      await Promise.all([1, 2, 3].map(() => cache.get('k', load('b'), WAIT)));
      expect(store.reads).toEqual(['k', 'k']);
    });
  });

  describe('a change', () => {
    const ID = 'UCgone_________________A';
    const KEY = `channel1:${ID}`;
    const CHANGE = changeOfChannels(new Set([ID]));

    test('takes from memory what names the channel in key or value, and nothing else', async () => {
      const { cache, changes, store, load } = setUp();
      for (const [key, value] of [
        [KEY, 'a'],
        ['name1:handle:gone', ID],
        ['name1:handle:kept', 'b'],
      ] as const) {
        await cache.get(key, load(value), WAIT);
      }
      store.entries.clear();
      changes.announce(CHANGE);
      const kinds = await Promise.all(
        [KEY, 'name1:handle:gone', 'name1:handle:kept'].map(
          async (key) => (await cache.get(key, load('c'), WAIT)).outcome.kind,
        ),
      );
      expect(kinds).toEqual(['miss', 'miss', 'hit']);
    });

    test('frees what it takes', async () => {
      const { cache, changes, load } = setUp();
      await cache.get(KEY, load('a'), WAIT);
      changes.announce(CHANGE);
      await changes.sweep();
      expect(cache.stats().memory).toMatchObject({ entries: 0, bytes: 0 });
    });

    test('keeps a load that began before it from being kept, and from being joined', async () => {
      const { cache, changes, store, load } = setUp();
      const before = Promise.withResolvers<Loaded<string>>();
      const began = Promise.withResolvers<void>();
      const waiting = cache.get(
        KEY,
        () => {
          began.resolve();
          return before.promise;
        },
        WAIT,
      );
      await began.promise;
      changes.announce(CHANGE);
      expect(await cache.get(KEY, load('new'), WAIT)).toMatchObject({
        value: 'new',
        outcome: { kind: 'miss', isStored: true },
      });
      before.resolve({ value: 'old' });
      expect(await waiting).toMatchObject({ value: 'old', outcome: { isStored: false } });
      expect((await cache.get(KEY, load('newer'), WAIT)).value).toBe('new');
      expect(store.entries.get(KEY)?.value).toContain('new');
    });

    test('keeps what such a load brings along from being kept', async () => {
      const { cache, changes, store, load } = setUp();
      const before = Promise.withResolvers<void>();
      const began = Promise.withResolvers<void>();
      const waiting = cache.get(
        'name1:handle:gone',
        async () => {
          began.resolve();
          await before.promise;
          await cache.put(KEY, load('old'));
          await cache.get(`${KEY}:more`, load('old'), WAIT);
          return { value: ID };
        },
        WAIT,
      );
      await began.promise;
      changes.announce(CHANGE);
      before.resolve();
      await waiting;
      expect([...store.entries.keys(), cache.stats().memory.entries]).toEqual([0]);
    });

    test('keeps what was being read from the store from coming back', async () => {
      const { cache, changes, store, clock, load } = setUp();
      const read = Promise.withResolvers<StoredEntry>();
      store.get = () => read.promise;
      const reading = cache.get(KEY, load('new'), WAIT);
      changes.announce(CHANGE);
      read.resolve({ value: '{"value":"old","freshMs":3600000}', storedAtMs: clock.now() });
      await reading;
      store.get = async () => undefined;
      expect((await cache.get(KEY, load('new'), WAIT)).value).toBe('new');
    });

    test('keeps a change of a value that began before it from bringing the value back', async () => {
      const { cache, changes, store, load } = setUp();
      await cache.get(KEY, load('old'), WAIT);
      const patching = cache.patch(KEY, (value) => `${value} changed`);
      changes.announce(CHANGE);
      await patching;
      store.entries.clear();
      expect((await cache.get(KEY, load('new'), WAIT)).value).toBe('new');
    });

    test('takes absent names that it lists', async () => {
      const { cache, changes, store, load } = setUp();
      const absent = async () => {
        throw new AppError('channel_not_found', 'gone');
      };
      for (const name of ['a', 'b']) await cache.get(`name1:handle:${name}`, absent, WAIT).catch(() => undefined);
      store.entries.clear();
      changes.announce({ ...CHANGE, names: new Set(['handle:a']) });
      expect((await cache.get('name1:handle:a', load(ID), WAIT)).value).toBe(ID);
      await expect(cache.get('name1:handle:b', load(ID), WAIT)).rejects.toMatchObject({ code: 'channel_not_found' });
    });
  });

  test('bounds what is being loaded', async () => {
    const { cache } = setUp();
    const never = () => new Promise<never>(() => undefined);
    for (let number = 0; number < 10_000; number += 1) void cache.get(`key ${number}`, never, WAIT);
    await expect(cache.get('another', never, WAIT)).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
    expect(cache.stats().loading).toEqual({ entries: 10_000, maxEntries: 10_000 });
  });

  test('does not look into a store of its own for what is in memory', async () => {
    const { cache, store, clock, load } = setUp();
    await cache.get('k', load('a'), WAIT);
    clock.advance(HOUR_MS);
    await cache.get('k', load('b'), WAIT);
    expect(store.reads).toEqual(['k']);
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
