import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Change, changeOfChannels, EVERYTHING } from '../../src/store/changes.ts';
import type { ErasableStore } from '../../src/store/store.ts';

/** A store under test with ways to move its clock and to open it again. */
export interface StoreUnderTest {
  readonly store: ErasableStore;
  advance(ms: number): Promise<void> | void;
  /** Opens another store on the same data after this one was closed. Absent if no data survives the store. */
  reopen?(): Promise<ErasableStore> | ErasableStore;
}

const HOUR_MS = 3_600_000;
const SHORT_MS = 60_000;

/** The contract of every store. `createStore` is called for each test. */
export function describeStoreContract(name: string, createStore: () => Promise<StoreUnderTest> | StoreUnderTest): void {
  describe(`${name} as a store`, () => {
    let subject: StoreUnderTest;
    let store: ErasableStore;
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

    it('erases entries that name a channel in key or value, and nothing else', async () => {
      const [gone, kept] = ['UCgone_________________A', 'UCkept-----------------A'];
      const entries = {
        [`channel1:${gone}`]: '{"absent":"no such channel","freshMs":1}',
        'name1:handle:gone': `{"value":"${gone}","freshMs":1}`,
        'search1:20:both': `{"value":[{"channelId":"${kept}"},{"channelId":"${gone}","title":"Gone"}]}`,
        [`original1:${gone}:banner`]: '{}',
        [`refinement1:image2/${gone}/0123/0,0,1,1/1x1/default.avif`]: 'kept',
        [`channel1:${kept}`]: `{"value":{"channel":{"channelId":"${kept}","description":"UCgone"}}}`,
        'name1:handle:kept': `{"value":"${kept}"}`,
        'search1:20:other letter case': `{"value":[{"channelId":"${gone.toLowerCase()}"}]}`,
      };
      for (const [key, value] of Object.entries(entries)) await store.set(key, { value, storedAtMs: 1 }, HOUR_MS);
      const isErased = (text: string) => text.includes(gone);
      const expected = Object.entries(entries).flatMap(([key, value]) => (isErased(key + value) ? [key] : []));
      expect((await store.erase(changeOfChannels(new Set([gone, 'UCnever-stored_________A'])))).toSorted()).toEqual(
        expected.toSorted(),
      );
      for (const [key, value] of Object.entries(entries)) {
        expect([key, (await store.get(key))?.value]).toEqual([key, expected.includes(key) ? undefined : value]);
      }
    });

    const CHANGED = 'UCchanged______________A';
    const OTHER = 'UCother________________A';
    const entriesOfEveryKind = {
      [`channel1:${CHANGED}`]: '{"absent":"no such channel","freshMs":1}',
      [`channel1:${OTHER}`]: `{"value":{"channel":{"channelId":"${OTHER}"}}}`,
      'channel1:UCmoved________________A': `{"value":{"movedTo":"${CHANGED}"}}`,
      'name1:handle:changed': '{"absent":"no such channel","freshMs":1}',
      'name1:username:changed': '{"absent":"no such channel","freshMs":1}',
      'name1:handle:other': `{"value":"${OTHER}"}`,
      'search1:found the channel': `{"value":{"hits":[{"channelId":"${CHANGED}"}],"next":{}}}`,
      'search1:found another': `{"value":{"hits":[{"channelId":"${OTHER}"}],"next":{}}}`,
      'search1:found nothing': '{"value":{"hits":[],"next":{}}}',
      [`original1:${CHANGED}:banner`]: '{}',
      [`published1:${CHANGED}`]: '2014-05-17T09:30:00Z',
      [`refinement1:image2/${CHANGED}/0123/0,0,1,1/1x1/default.avif`]: 'kept',
      'kept1:something': 'learned',
    };
    const recordsAndNames = [`channel1:${CHANGED}`, 'channel1:UCmoved________________A', 'name1:handle:changed'];
    const searches = ['search1:found the channel', 'search1:found another', 'search1:found nothing'];
    const names = new Set(['handle:changed']);
    it.each<[string, Change, readonly string[]]>([
      [
        'channels without their images, a name, and searches without a result',
        { channelIds: new Set([CHANGED]), names, searches: 'empty', includesImages: false },
        [...recordsAndNames, 'search1:found the channel', 'search1:found nothing'],
      ],
      [
        'channels, a name and all searches',
        { channelIds: new Set([CHANGED]), names, searches: 'all', includesImages: false },
        [...recordsAndNames, ...searches],
      ],
      [
        'a name alone',
        { channelIds: new Set(), names, searches: 'naming', includesImages: true },
        ['name1:handle:changed'],
      ],
      [
        'all records, names and searches',
        { channelIds: 'all', names: new Set(), searches: 'all', includesImages: false },
        Object.keys(entriesOfEveryKind).filter((key) => /^(?:channel|name|search)/.test(key)),
      ],
    ])('erases %s', async (_what, change, expected) => {
      await Promise.all(
        Object.entries(entriesOfEveryKind).map(([key, value]) => store.set(key, { value, storedAtMs: 1 }, HOUR_MS)),
      );
      expect((await store.erase(change)).toSorted()).toEqual(expected.toSorted());
      for (const key of Object.keys(entriesOfEveryKind)) {
        expect([key, (await store.get(key)) === undefined]).toEqual([key, expected.includes(key)]);
      }
    });

    it('erases among many entries without blocking other calls', async () => {
      const numbers = Array.from({ length: 1_500 }, (_, number) => number);
      const idOf = (number: number) => `UC${String(number).padStart(22, '0')}`;
      await Promise.all(
        numbers.map((n) => store.set(`channel1:${idOf(n)}`, { value: `{"value":${n}}`, storedAtMs: n }, HOUR_MS)),
      );
      const erasing = store.erase(changeOfChannels(new Set(numbers.filter((n) => n % 3 === 0).map(idOf))));
      expect((await store.get(`channel1:${idOf(1)}`))?.storedAtMs).toBe(1);
      expect(await erasing).toHaveLength(500);
      const found = await Promise.all(numbers.map((n) => store.get(`channel1:${idOf(n)}`)));
      expect(found.map((entry) => entry?.storedAtMs)).toEqual(numbers.map((n) => (n % 3 === 0 ? undefined : n)));
    });

    it('erases everything, and stays usable', async () => {
      await store.set('channel1:UC', { value: 'value', storedAtMs: 1 }, HOUR_MS);
      await store.set('search1:20:words', { value: 'value', storedAtMs: 1 }, HOUR_MS);
      await store.erase(EVERYTHING);
      expect(await store.get('channel1:UC')).toBeUndefined();
      expect(await store.get('search1:20:words')).toBeUndefined();
      await store.set('channel1:UC', { value: 'new', storedAtMs: 2 }, HOUR_MS);
      expect((await store.get('channel1:UC'))?.value).toBe('new');
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
