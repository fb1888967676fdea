import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ErasedEntries, Removal } from '../../src/store/removal.ts';
import type { BackingStore } from '../../src/store/store.ts';

/** A store under test with ways to move its clock and to open it again. */
export interface StoreUnderTest {
  readonly store: BackingStore;
  advance(ms: number): Promise<void> | void;
  /** Opens another store on the same data after this one was closed. Absent if no data survives the store. */
  reopen?(): Promise<BackingStore> | BackingStore;
}

const HOUR_MS = 3_600_000;
const SHORT_MS = 60_000;

/** The contract of every store. `createStore` is called for each test. */
export function describeStoreContract(name: string, createStore: () => Promise<StoreUnderTest> | StoreUnderTest): void {
  describe(`${name} as a store`, () => {
    let subject: StoreUnderTest;
    let store: BackingStore;
    beforeEach(async () => {
      subject = await createStore();
      store = subject.store;
    });
    afterEach(() => store.close());

    it('returns nothing for a key that was never set', async () => {
      expect(await store.get('channel1:UC')).toBeUndefined();
    });

    it('returns the value and the time when it was stored', async () => {
      const entry = { value: '{"a":1}', storedAtMs: 1_700_000_000_123 };
      await store.set('key', entry, HOUR_MS);
      expect(await store.get('key')).toEqual(entry);
    });

    it('replaces an earlier value, its time and its lifetime', async () => {
      await store.set('key', { value: 'first', storedAtMs: 1 }, SHORT_MS);
      await store.set('key', { value: 'second', storedAtMs: 2 }, HOUR_MS);
      await subject.advance(SHORT_MS);
      expect(await store.get('key')).toEqual({ value: 'second', storedAtMs: 2 });
    });

    it('returns a value until its lifetime ends and never later', async () => {
      await store.set('short', { value: 'value', storedAtMs: 1 }, SHORT_MS);
      await store.set('long', { value: 'value', storedAtMs: 1 }, HOUR_MS);
      expect(await store.get('short')).toBeDefined();
      await subject.advance(SHORT_MS);
      expect(await store.get('short')).toBeUndefined();
      expect(await store.get('long')).toBeDefined();
    });

    it.each([60_000, HOUR_MS, 7 * 24 * HOUR_MS, 100 * 365 * 24 * HOUR_MS])(
      'keeps a value for %i ms, no shorter and no longer',
      async (ttlMs) => {
        await store.set('key', { value: 'value', storedAtMs: 1 }, ttlMs);
        // Allows for the time that the test takes, which passes in Redis.
        await subject.advance(ttlMs - 30_000);
        expect(await store.get('key')).toBeDefined();
        await subject.advance(30_000);
        expect(await store.get('key')).toBeUndefined();
      },
    );

    it('returns large and empty values unchanged', async () => {
      const large = 'ü'.repeat(1_000_000);
      await store.set('large', { value: large, storedAtMs: 1 }, HOUR_MS);
      await store.set('empty', { value: '', storedAtMs: 1 }, HOUR_MS);
      expect((await store.get('large'))?.value).toBe(large);
      expect((await store.get('empty'))?.value).toBe('');
    });

    it('distinguishes keys by letter case, spaces and normalization form', async () => {
      const keys = [
        'é',
        'e\u0301',
        'É',
        'a',
        'A',
        'a ',
        ' a',
        '',
        'a%',
        'a_',
        "'; DROP TABLE entries; --",
        '\u{1f4fa}',
      ];
      for (const key of keys) await store.set(key, { value: `value of ${key}`, storedAtMs: 1 }, HOUR_MS);
      for (const key of keys) expect((await store.get(key))?.value).toBe(`value of ${key}`);
    });

    it('gives each of several simultaneous calls its own result', async () => {
      const numbers = Array.from({ length: 300 }, (_, number) => number);
      await Promise.all(numbers.map((n) => store.set(`key ${n}`, { value: `${n}`, storedAtMs: n }, HOUR_MS)));
      const found = await Promise.all(numbers.map((n) => store.get(`key ${n}`)));
      expect(found.map((entry) => entry?.storedAtMs)).toEqual(numbers);
    });

    it('reads a value that was set earlier in the same turn', async () => {
      const setting = store.set('key', { value: 'value', storedAtMs: 1 }, HOUR_MS);
      expect((await store.get('key'))?.value).toBe('value');
      await setting;
    });

    it('behaves like a map for any sequence of calls', async () => {
      const key = fc.constantFrom('a', 'b', 'ключ');
      const step = fc.record({ call: fc.constantFrom('set', 'get'), key, value: fc.string({ unit: 'grapheme' }) });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
          run += 1;
          const model = new Map<string, string>();
          for (const { call, key: name, value } of steps) {
            const runKey = `${run} ${name}`;
            if (call === 'set') {
              model.set(runKey, value);
              await store.set(runKey, { value, storedAtMs: 1 }, HOUR_MS);
            } else {
              expect((await store.get(runKey))?.value).toBe(model.get(runKey));
            }
          }
        }),
        { numRuns: 50 },
      );
    });

    const GONE = 'UCgone_________________A';
    const KEPT = 'UCkept-----------------A';
    /** Two channels with entries of every kind. */
    const entries: readonly (readonly [key: string, leadsTo?: string])[] = [
      ...[GONE, KEPT].flatMap((channelId): [string, string?][] => [
        [`channel1:${channelId}`],
        [`original1:${channelId}:banner`],
        [`original1:${channelId}:avatar`],
        [`name1:handle:to ${channelId}`, channelId],
        [`channel1:UCformerly ${channelId}`, channelId],
        [`search1:found ${channelId}`, channelId],
      ]),
      ['name1:handle:nobody'],
      ['name1:username:nobody'],
      ['search1:found nothing'],
      ['kept1:something'],
    ];
    const entryFor = (leadsTo: string | undefined) => ({ value: `{"value":"${leadsTo}"}`, storedAtMs: 1, leadsTo });
    const keysOf = (channelId: string) => [
      `channel1:${channelId}`,
      `name1:handle:to ${channelId}`,
      `channel1:UCformerly ${channelId}`,
      `original1:${channelId}:banner`,
      `original1:${channelId}:avatar`,
      `search1:found ${channelId}`,
    ];

    it.each<[string, Removal, readonly string[], ErasedEntries]>([
      [
        'a channel',
        { channelIds: [GONE, 'UCnever-stored_________A'], names: [] },
        keysOf(GONE),
        { channel: 2, name: 1, search: 1, original: 2 },
      ],
      [
        'a channel and a name',
        { channelIds: [GONE], names: ['handle:nobody'] },
        [...keysOf(GONE), 'name1:handle:nobody'],
        { channel: 2, name: 2, search: 1, original: 2 },
      ],
      ['a name alone', { channelIds: [], names: ['username:nobody'] }, ['name1:username:nobody'], { name: 1 }],
    ])('erases %s', async (_what, removal, expected, counts) => {
      for (const [key, leadsTo] of entries) await store.set(key, entryFor(leadsTo), HOUR_MS);
      expect(await store.erase(removal)).toEqual(counts);
      for (const [key] of entries) {
        expect([key, (await store.get(key)) === undefined]).toEqual([key, expected.includes(key)]);
      }
    });

    const removalOf = (...channelIds: string[]): Removal => ({ channelIds, names: [] });

    it('erases only the searches that contain a channel', async () => {
      const names = Array.from({ length: 700 }, (_, number) => `search1:${number}`);
      const holds = (number: number) => (number % 10 === 0 ? GONE : KEPT);
      await Promise.all(
        names.map((name, number) =>
          store.set(name, { value: `{"channelId":"${holds(number)}"}`, storedAtMs: number }, HOUR_MS),
        ),
      );
      await store.set(`search1:${GONE}`, { value: '{}', storedAtMs: 1 }, HOUR_MS);
      expect(await store.erase(removalOf('UCother________________A', GONE))).toEqual({
        search: 71,
      });
      const found = await Promise.all(names.map((name) => store.get(name)));
      expect(found.map((entry) => entry === undefined)).toEqual(names.map((_, number) => number % 10 === 0));
    });

    it('erases what leads to the channel at the time', async () => {
      const name = 'name1:handle:moved';
      await store.set(name, entryFor(GONE), HOUR_MS);
      await store.set(name, entryFor(KEPT), HOUR_MS);
      await store.erase(removalOf(KEPT));
      expect(await store.get(name)).toBeUndefined();
    });

    it('erases many entries without blocking other calls', async () => {
      const numbers = Array.from({ length: 1_500 }, (_, number) => number);
      const idOf = (number: number) => `UC${String(number).padStart(22, '0')}`;
      await Promise.all(
        numbers.map((n) => store.set(`channel1:${idOf(n)}`, { value: `{"value":${n}}`, storedAtMs: n }, HOUR_MS)),
      );
      await Promise.all(numbers.map((n) => store.set(`search1:${n}`, { value: idOf(0), storedAtMs: n }, HOUR_MS)));
      const erasing = store.erase(removalOf(...numbers.filter((n) => n % 3 === 0).map(idOf)));
      expect((await store.get(`channel1:${idOf(1)}`))?.storedAtMs).toBe(1);
      expect(await erasing).toEqual({ channel: 500, search: 1_500 });
      const found = await Promise.all(numbers.map((n) => store.get(`channel1:${idOf(n)}`)));
      expect(found.map((entry) => entry?.storedAtMs)).toEqual(numbers.map((n) => (n % 3 === 0 ? undefined : n)));
    });

    it('may be closed twice', async () => {
      await store.close();
      await store.close();
    });

    it('has its entries after it was opened again', async (context) => {
      if (subject.reopen === undefined) return context.skip('nothing outlives this store');
      await store.set('long', { value: 'value', storedAtMs: 1 }, HOUR_MS);
      await store.set('short', { value: 'value', storedAtMs: 1 }, SHORT_MS);
      await store.close();
      await subject.advance(SHORT_MS);
      store = await subject.reopen();
      expect((await store.get('long'))?.value).toBe('value');
      expect(await store.get('short')).toBeUndefined();
    });
  });
}
