import { describe, expect, test, vi } from 'vitest';
import { fail, HOUR_MS, setUpReadThrough, WAIT } from '../../test/helpers/read-through.ts';
import { AppError } from '../domain/errors.ts';
import { changeOfChannels } from './changes.ts';
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

describe('a change', () => {
  const ID = 'UCgone_________________A';
  const KEY = `channel1:${ID}`;
  const CHANGE = changeOfChannels(new Set([ID]));

  test('removes from memory only values that name the channel in key or value', async () => {
    const { cache, changes, store, load } = setUpReadThrough();
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

  test('frees the removed values', async () => {
    const { cache, changes, load } = setUpReadThrough();
    await cache.get(KEY, load('a'), WAIT);
    changes.announce(CHANGE);
    await changes.sweep();
    expect(cache.stats().memory).toMatchObject({ entries: 0, bytes: 0 });
  });

  test('prevents an earlier load from being stored or joined', async () => {
    const { cache, changes, store, load } = setUpReadThrough();
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

  test('prevents side results of such a load from being stored', async () => {
    const { cache, changes, store, load } = setUpReadThrough();
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

  test('prevents a value that was being read from the store from being kept', async () => {
    const { cache, changes, store, clock, load } = setUpReadThrough();
    const read = Promise.withResolvers<StoredEntry>();
    store.get = () => read.promise;
    const reading = cache.get(KEY, load('new'), WAIT);
    changes.announce(CHANGE);
    read.resolve({ value: '{"value":"old","freshMs":3600000}', storedAtMs: clock.now() });
    await reading;
    store.get = async () => undefined;
    expect((await cache.get(KEY, load('new'), WAIT)).value).toBe('new');
  });

  test('prevents an earlier patch from storing the value again', async () => {
    const { cache, changes, store, load } = setUpReadThrough();
    await cache.get(KEY, load('old'), WAIT);
    const patching = cache.patch(KEY, (value) => `${value} changed`);
    changes.announce(CHANGE);
    await patching;
    store.entries.clear();
    expect((await cache.get(KEY, load('new'), WAIT)).value).toBe('new');
  });

  test('removes the stored absence of names that it lists', async () => {
    const { cache, changes, store, load } = setUpReadThrough();
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
