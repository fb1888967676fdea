import { describe, expect, test, vi } from 'vitest';
import { fail, HOUR_MS, setUpReadThrough, WAIT } from '../../test/helpers/read-through.ts';
import type { Loaded } from './read-through.ts';
import type { StoredEntry } from './store.ts';

describe('a patch of a value', () => {
  test('keeps its age, its limit and its time in the store', async () => {
    const { cache, store, clock, load } = setUpReadThrough();
    const set = vi.spyOn(store, 'set');
    const storedAtMs = clock.now();
    await cache.get('k', load('a'), WAIT);
    const ttlMs = set.mock.lastCall?.[2] ?? 0;
    expect(ttlMs).toBe(168 * HOUR_MS);
    clock.advance(HOUR_MS / 2);
    await cache.patch('k', (value) => `${value} changed`);
    expect(store.entries.get('k')).toEqual({ value: '{"value":"a changed","freshMs":3600000}', storedAtMs });
    expect(set.mock.lastCall?.[2]).toBe(ttlMs - HOUR_MS / 2);
    expect(await cache.get('k', fail, WAIT)).toMatchObject({ value: 'a changed', outcome: { ttlMs: HOUR_MS / 2 } });
    clock.advance(167 * HOUR_MS);
    await cache.patch('k', (value) => `${value} again`);
    clock.advance(HOUR_MS / 2);
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  test('does not make a stale value fresh', async () => {
    const { cache, clock, load } = setUpReadThrough();
    await cache.get('k', load('a'), WAIT);
    clock.advance(2 * HOUR_MS);
    await cache.patch('k', (value) => `${value} changed`);
    expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
  });
});

describe('the end of an epoch', () => {
  const KEY = 'channel1:UCgone_________________A';

  test('empties memory', async () => {
    const { cache, epochs, store, load } = setUpReadThrough();
    await cache.get(KEY, load('a'), WAIT);
    store.entries.clear();
    epochs.moveTo('next');
    expect(cache.stats().memory).toMatchObject({ entries: 0, bytes: 0 });
    expect((await cache.get(KEY, load('c'), WAIT)).outcome.kind).toBe('miss');
  });

  test('prevents an earlier load from being stored or joined', async () => {
    const { cache, epochs, store, load } = setUpReadThrough();
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
    epochs.moveTo('next');
    expect(await cache.get(KEY, load('new'), WAIT)).toMatchObject({
      value: 'new',
      outcome: { kind: 'miss', isStored: true },
    });
    before.resolve({ value: 'old' });
    expect(await waiting).toMatchObject({ value: 'old', outcome: { isStored: false } });
    expect((await cache.get(KEY, load('newer'), WAIT)).value).toBe('new');
    expect(store.entries.get(KEY)?.value).toContain('new');
  });

  test('prevents side results of such a load from being stored', async () => {
    const { cache, epochs, store, load } = setUpReadThrough();
    const before = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const waiting = cache.get(
      'name1:handle:gone',
      async () => {
        began.resolve();
        await before.promise;
        await cache.put(KEY, load('old'));
        await cache.get(`${KEY}:more`, load('old'), WAIT);
        return { value: 'old' };
      },
      WAIT,
    );
    await began.promise;
    epochs.moveTo('next');
    before.resolve();
    await waiting;
    expect([...store.entries.keys(), cache.stats().memory.entries]).toEqual([0]);
  });

  test('prevents a value that was being read from the store from being kept', async () => {
    const { cache, epochs, store, clock, load } = setUpReadThrough();
    const read = Promise.withResolvers<StoredEntry>();
    store.get = () => read.promise;
    const reading = cache.get(KEY, load('new'), WAIT);
    epochs.moveTo('next');
    read.resolve({ value: '{"value":"old","freshMs":3600000}', storedAtMs: clock.now() });
    await reading;
    store.get = async () => undefined;
    expect((await cache.get(KEY, load('new'), WAIT)).value).toBe('new');
  });

  test('prevents an earlier patch from storing the value again', async () => {
    const { cache, epochs, store, load } = setUpReadThrough();
    await cache.get(KEY, load('old'), WAIT);
    store.entries.clear();
    const patching = cache.patch(KEY, (value) => `${value} changed`);
    epochs.moveTo('next');
    await patching;
    expect([...store.entries.keys()]).toEqual([]);
    expect((await cache.get(KEY, load('new'), WAIT)).value).toBe('new');
  });
});
