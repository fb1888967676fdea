import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Cache, createCache, type Loaded } from '../../src/cache/cache.ts';
import type { Content } from '../../src/cache/entry.ts';
import { ABSENCE } from '../../src/cache/values.ts';
import { AppError } from '../../src/domain/errors.ts';
import { fail, HOUR_MS, type OpenStore, WAIT } from '../helpers/cache.ts';
import { createManualClock, type ManualClock } from '../helpers/clock.ts';

/** A store whose data outlives it. */
export interface StoredData {
  /** Opens the store, as each process does. */
  open(clock: ManualClock): OpenStore;
}

const GRACE_MS = 168 * HOUR_MS;
const AT_ONCE = { softTimeoutMs: 0 };

const absent = async () => ABSENCE;
const failForKey = async (): Promise<never> => {
  throw new AppError('upstream_invalid', 'half a response');
};

/** The behaviour of the cache in front of a store. `createData` is called for each test. */
export function describeCache(name: string, createData: () => Promise<StoredData>): void {
  describe(`the cache in front of ${name}`, () => {
    let data: StoredData;
    let clock: ManualClock;
    let store: OpenStore;
    let cache: Cache<string | null>;
    let loads: number;

    function open(): Cache<string | null> {
      store = data.open(clock);
      const opened = store;
      onTestFinished(() => opened.close());
      return createCache<string | null>({
        policy: { freshMs: HOUR_MS, graceMs: GRACE_MS, isValue: (value) => value !== 'of another form' },
        store,
        maxMemoryBytes: 1_000_000,
        clock,
      });
    }

    /** Like a restart of the process. */
    function restart(): void {
      store.close();
      cache = open();
    }

    const load =
      (value: string, more: Partial<Loaded<string>> = {}) =>
      async () => {
        loads += 1;
        return { value, ...more };
      };
    const put = (key: string, value: string) => cache.put(key, { value });

    beforeEach(async () => {
      data = await createData();
      clock = createManualClock();
      loads = 0;
      cache = open();
    });

    test('100 callers cause one load, and their responses say who joined', async () => {
      const responses = await Promise.all(Array.from({ length: 100 }, () => cache.get('k', load('a'), WAIT)));
      expect([loads, new Set(responses.map(({ value }) => value))]).toEqual([1, new Set(['a'])]);
      expect(responses.filter(({ outcome }) => outcome.isCollapsed)).toHaveLength(99);
    });

    test('100 callers cause one load that fails, and the failure is not stored', async () => {
      let failures = 0;
      const failing = () => {
        failures += 1;
        return fail();
      };
      const gets = Array.from({ length: 100 }, () => cache.get('k', failing, WAIT));
      const results = await Promise.allSettled(gets);
      expect([failures, new Set(results.map(({ status }) => status))]).toEqual([1, new Set(['rejected'])]);
      expect(await store.get('k')).toBeUndefined();
      expect((await cache.get('k', load('a'), WAIT)).outcome.kind).toBe('miss');
    });

    test('a caller waits for a reload as long as it says, then gets the stale value, and the load goes on', async () => {
      await cache.get('k', load('a'), WAIT);
      clock.advance(HOUR_MS);
      const late = Promise.withResolvers<Loaded<string>>();
      const waiting = cache.get('k', () => late.promise, WAIT);
      await clock.passTimer(WAIT.softTimeoutMs);
      expect(await waiting).toMatchObject({ value: 'a', outcome: { kind: 'stale' } });
      expect((await cache.get('k', load('c'), AT_ONCE)).outcome).toMatchObject({ kind: 'stale', isCollapsed: true });
      late.resolve({ value: 'b' });
      await expect.poll(async () => (await cache.get('k', load('c'), AT_ONCE)).value).toBe('b');
      expect(loads).toBe(1);
    });

    test.each([
      ['while a caller waits', WAIT],
      ['in the background', AT_ONCE],
    ])('a reload that fails %s is not tried again for 60 s, and the stale value goes out', async (_how, options) => {
      await cache.get('k', load('a'), WAIT);
      clock.advance(2 * HOUR_MS);
      const stale = { value: 'a', outcome: { kind: 'stale', ttlMs: -HOUR_MS } };
      expect(await cache.get('k', fail, options)).toMatchObject(stale);
      await expect.poll(async () => (await cache.get('k', fail, WAIT)).outcome.reason).toBe('upstream_unavailable');
      expect(loads).toBe(1);
      clock.advance(60_000);
      expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
    });

    test('an absence is kept for 60 s, also in place of a value; then "could not tell" is no absence', async () => {
      await cache.get('k', load('a'), WAIT);
      clock.advance(HOUR_MS);
      expect(await cache.get('k', absent, WAIT)).toMatchObject({ value: null, outcome: { ttlMs: 60_000 } });
      clock.advance(59_999);
      restart();
      const known = { value: null, outcome: { kind: 'hit', ttlMs: 1 } };
      expect([await cache.get('k', load('b'), WAIT), await cache.getCached('k')]).toMatchObject([known, known]);
      clock.advance(1);
      expect(await cache.getCached('k')).toBeUndefined();
      await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
      expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
    });

    test('a value that is put replaces a fresh one, and is not replaced by a load that began before', async () => {
      const slow = Promise.withResolvers<Loaded<string>>();
      const begun = Promise.withResolvers<void>();
      const slowLoad = () => {
        begun.resolve();
        return slow.promise;
      };
      const loading = cache.get('k', slowLoad, WAIT);
      await begun.promise;
      put('k', 'a');
      put('k', 'b');
      slow.resolve({ value: 'older' });
      expect((await loading).value).toBe('b');
      expect((await cache.get('k', load('c'), WAIT)).value).toBe('b');
      restart();
      expect((await cache.get('k', load('c'), WAIT)).value).toBe('b');
    });

    test('a load replaces a value that is read from the store while it runs', async () => {
      await cache.get('k', load('a'), WAIT);
      clock.advance(HOUR_MS);
      const slow = Promise.withResolvers<Loaded<string>>();
      expect((await cache.get('k', () => slow.promise, AT_ONCE)).value).toBe('a');
      cache.forget({ channelIds: [], keys: ['k'] });
      expect((await cache.getCached('k'))?.value).toBe('a');
      slow.resolve({ value: 'b' });
      await expect.poll(async () => (await cache.get('k', fail, AT_ONCE)).value).toBe('b');
    });

    test('a value of another version is reloaded at any age, and goes out if that fails', async () => {
      await cache.get('k', load('old', { version: '1' }), WAIT);
      const stale = { value: 'old', outcome: { kind: 'stale', ttlMs: -1_000 } };
      expect(await cache.get('k', failForKey, { ...WAIT, version: '2' })).toMatchObject(stale);
      restart();
      expect(await cache.get('k', failForKey, { ...WAIT, version: '2' })).toMatchObject(stale);
      expect((await cache.get('k', load('other'), { ...WAIT, version: '1' })).value).toBe('old');
      const made = await cache.get('k', load('new', { version: '3' }), { ...WAIT, version: '3' });
      expect(made).toMatchObject({ value: 'new', outcome: { kind: 'refreshed' } });
    });

    test('versions are loaded apart, and the value whose load began last stays', async () => {
      const slow = Promise.withResolvers<Loaded<string>>();
      const older = cache.get('k', () => slow.promise, { ...WAIT, version: '1' });
      const newer = await cache.get('k', load('b', { version: '2' }), { ...WAIT, version: '2' });
      slow.resolve({ value: 'a', version: '1' });
      expect([(await older).value, newer.value]).toEqual(['a', 'b']);
      expect((await cache.get('k', load('c'), { ...WAIT, version: '2' })).value).toBe('b');
    });

    test('a value that has expired is stale, also after a restart; one that has replaced it does not expire', async () => {
      const { storedAtMs } = await cache.get('k', load('a'), WAIT);
      await cache.expire('k', storedAtMs);
      clock.advance(1);
      restart();
      expect(await cache.get('k', fail, WAIT)).toMatchObject({ value: 'a', storedAtMs, outcome: { kind: 'stale' } });
      put('k', 'b');
      await cache.expire('k', storedAtMs);
      expect((await cache.get('k', load('c'), WAIT)).value).toBe('b');
    });

    test.each<[what: string, text: () => string]>([
      ['an empty text', () => ''],
      ['no JSON', () => '{'],
      ['no object', () => 'null'],
      ['a value of another form', () => textWith({ value: 'of another form' })],
      ['a time that is no number', () => textWith({ freshMs: null as never })],
      ['a time that is too long', () => textWith({ freshMs: 1e308 })],
    ])('%s in the store counts as absent, and is replaced', async (_what, text) => {
      await cache.get('k', load('ours'), WAIT);
      await store.set('k', text(), HOUR_MS);
      restart();
      expect(await cache.getCached('k')).toBeUndefined();
      expect((await cache.get('k', load('new'), WAIT)).outcome.kind).toBe('miss');
      restart();
      expect((await cache.get('k', fail, WAIT)).value).toBe('new');
    });

    const textWith = (content: Partial<Content<string>>) =>
      JSON.stringify({ value: 'v', storedAtMs: clock.now(), freshMs: 1, ...content });

    test('a value that must not be stored is only in memory', async () => {
      await cache.get('k', load('a', { isStored: false }), WAIT);
      expect((await cache.get('k', load('b'), WAIT)).value).toBe('a');
      expect(await store.get('k')).toBeUndefined();
    });

    test('keys differ by letter case, spaces and composition; values of any text come back unchanged', async () => {
      const keys = ['é', 'e\u0301', 'É', 'a', 'A', 'a ', ' a', 'a%', 'a_', "'; DROP TABLE entries; --", '\u{1f4fa}'];
      for (const key of keys) await cache.get(key, load(`${key}\u0000"\n`), WAIT);
      await cache.get('large', load('ü'.repeat(500_000)), WAIT);
      restart();
      for (const key of keys) expect((await cache.get(key, fail, WAIT)).value).toBe(`${key}\u0000"\n`);
      expect((await cache.get('large', fail, WAIT)).value).toBe('ü'.repeat(500_000));
    });

    test('memory is bounded for any number of keys, and what it evicts is in the store', async () => {
      const keyOf = (number: number) => `${number}${'k'.repeat(number % 10 === 0 ? 8_192 : 10)}`;
      for (let number = 0; number < 1_000; number += 1) put(keyOf(number), `${number}`);
      const { entries = 0, bytes = 0 } = cache.stats().memory;
      expect([entries < 900, bytes <= 1_000_000]).toEqual([true, true]);
      for (const number of [0, 1, 999]) expect((await cache.getCached(keyOf(number)))?.value).toBe(`${number}`);
    });

    test('what names a channel is removed from the store and from memory, and the rest stays', async () => {
      const [GONE, KEPT] = ['UCgone_________________A', 'UCkept-----------------A'];
      const entriesOf = (channelId: string) => [
        [`channel1:${channelId}`, 'its record'],
        [`original1:${channelId}:banner`, 'metadata'],
        [`search1:https://site.example/${channelId}/about`, 'a list'],
        ...Array.from({ length: 600 }, (_, number) => [`name1:handle:${number}${channelId.slice(2, 6)}`, channelId]),
      ];
      for (const [key = '', value = ''] of [...entriesOf(GONE), ...entriesOf(KEPT)]) put(key, value);
      put('mentions', `a text with ${GONE}`);
      put('name1:handle:nobody', 'nobody');
      const removal = { channelIds: [GONE, 'UCnever-stored_________A'], keys: ['name1:handle:nobody'] };
      cache.forget(removal);
      const removing = store.remove(removal);
      // Other calls can run in between.
      expect(await store.get(`channel1:${KEPT}`)).toBeDefined();
      expect(await removing).toBe(entriesOf(GONE).length + 1);
      for (const [key = ''] of entriesOf(GONE)) expect([key, await cache.getCached(key)]).toEqual([key, undefined]);
      for (const [key = ''] of [...entriesOf(KEPT), ['mentions']]) {
        expect([key, await cache.getCached(key)]).not.toEqual([key, undefined]);
      }
      expect(await store.remove({ channelIds: [GONE], keys: [] })).toBe(0);
    });
  });
}
