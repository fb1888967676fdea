import { describe, expect, test, vi } from 'vitest';
import { fail, HOUR_MS, memoryStore, setUpReadThrough, WAIT } from '../../test/helpers/read-through.ts';
import { AppError } from '../domain/errors.ts';
import type { Loaded } from './read-through.ts';

describe('the read-through cache', () => {
  test('loads once for concurrent callers, and reports who joined', async () => {
    const { cache, load, loads } = setUpReadThrough();
    const responses = await Promise.all(Array.from({ length: 100 }, () => cache.get('k', load('a'), WAIT)));
    expect(loads()).toBe(1);
    expect(new Set(responses.map(({ value }) => value))).toEqual(new Set(['a']));
    expect(responses.filter(({ outcome }) => outcome.isCollapsed)).toHaveLength(99);
  });

  test('does not reload a value that was loaded during a slow read from the store', async () => {
    const store = memoryStore();
    const lookUps = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const held = lookUps.values();
    const { cache, load, loads } = setUpReadThrough({ ...store, read: async () => held.next().value?.promise });
    const [first, second] = [cache.get('k', load('a'), WAIT), cache.get('k', load('a'), WAIT)];
    lookUps[0]?.resolve(undefined);
    expect((await first).outcome).toMatchObject({ kind: 'miss' });
    lookUps[1]?.resolve(undefined);
    expect(await second).toMatchObject({ value: 'a', outcome: { kind: 'hit' } });
    expect(loads()).toBe(1);
  });

  test('returns a fresh value from memory and reloads a stale one', async () => {
    const { cache, clock, load } = setUpReadThrough();
    await cache.get('k', load('a'), WAIT);
    clock.advance(HOUR_MS - 1);
    expect((await cache.get('k', load('b'), WAIT)).outcome).toMatchObject({ kind: 'hit', ttlMs: 1 });
    clock.advance(1);
    expect(await cache.get('k', load('b'), WAIT)).toMatchObject({ value: 'b', outcome: { kind: 'refreshed' } });
  });

  test('reads a value of another instance after a restart, with its age', async () => {
    const first = setUpReadThrough();
    await first.cache.get('k', first.load('a'), WAIT);
    first.clock.advance(HOUR_MS / 2);
    const second = setUpReadThrough(first.store, first.clock);
    const found = await second.cache.get('k', second.load('b'), WAIT);
    expect(found).toMatchObject({ value: 'a', outcome: { kind: 'hit', ttlMs: HOUR_MS / 2 } });
  });

  test('returns the last good value for seven days when loads fail, and tries again after a minute', async () => {
    const { cache, clock, load, loads } = setUpReadThrough();
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

  test('waits a moment for a reload, then returns the stale value while the load continues', async () => {
    const { cache, clock, load } = setUpReadThrough();
    await cache.get('k', load('a'), WAIT);
    clock.advance(HOUR_MS);
    const late = Promise.withResolvers<Loaded<string>>();
    const waiting = cache.get('k', () => late.promise, WAIT);
    await clock.passTimer(WAIT.softTimeoutMs);
    expect((await waiting).value).toBe('a');
    late.resolve({ value: 'b' });
    await late.promise;
    await expect.poll(async () => (await cache.get('k', load('c'), WAIT)).value).toBe('b');
  });

  test('stores "no such channel" for a minute, also in place of a value', async () => {
    const { cache, clock, load } = setUpReadThrough();
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

  test('returns the stale value when the new original was downloaded but could not be decoded', async () => {
    const { cache, clock, load } = setUpReadThrough();
    await cache.get('k', load('a'), WAIT);
    clock.advance(2 * HOUR_MS);
    const busy = async () => {
      throw new AppError('overloaded', 'too many images');
    };
    expect(await cache.get('k', busy, WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'stale' } });
  });

  test('never stores a failure of upstream', async () => {
    const { cache, load } = setUpReadThrough();
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect((await cache.get('k', load('a'), WAIT)).value).toBe('a');
  });

  test('treats an entry from the future as stale', async () => {
    const { cache, store, clock, load } = setUpReadThrough();
    await cache.get('k', load('a'), WAIT);
    clock.jumpWallClock(-5 * HOUR_MS);
    const restarted = setUpReadThrough(store, clock);
    expect((await restarted.cache.get('k', restarted.load('b'), WAIT)).value).toBe('b');
    clock.jumpWallClock(-5 * HOUR_MS);
    const again = setUpReadThrough(store, clock);
    expect(await again.cache.get('k', fail, WAIT)).toMatchObject({ value: 'b', outcome: { kind: 'stale' } });
  });

  test('counts the time while the machine was suspended', async () => {
    const { cache, clock, load } = setUpReadThrough();
    await cache.get('k', load('a'), WAIT);
    // The monotonic clock does not move in the meantime.
    clock.jumpWallClock(HOUR_MS);
    expect(await cache.get('k', load('b'), WAIT)).toMatchObject({ value: 'b', outcome: { kind: 'refreshed' } });
    clock.jumpWallClock(169 * HOUR_MS);
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });

  test('does not make an entry younger when the wall clock is set back', async () => {
    const { cache, clock, load } = setUpReadThrough();
    await cache.get('k', load('a'), WAIT);
    clock.jumpWallClock(-20 * HOUR_MS);
    expect((await cache.get('k', load('b'), WAIT)).outcome).toMatchObject({ kind: 'hit', ttlMs: HOUR_MS });
    clock.advance(HOUR_MS);
    expect((await cache.get('k', load('b'), WAIT)).value).toBe('b');
  });

  test('bounds the number of concurrent loads', async () => {
    const { cache } = setUpReadThrough();
    const never = () => new Promise<never>(() => undefined);
    for (let number = 0; number < 10_000; number += 1) void cache.get(`key ${number}`, never, WAIT);
    await expect(cache.get('another', never, WAIT)).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
    expect(cache.stats().loading).toEqual({ entries: 10_000, maxEntries: 10_000 });
  });

  test('does not read an unshared store for a value in memory', async () => {
    const { cache, store, clock, load } = setUpReadThrough();
    const reads = vi.spyOn(store, 'read');
    await cache.get('k', load('a'), WAIT);
    clock.advance(HOUR_MS);
    await cache.get('k', load('b'), WAIT);
    expect(reads.mock.calls).toEqual([['k']]);
  });

  test('does not store an unstorable value, and reloads it when its freshness ends', async () => {
    const { cache, store, clock, load } = setUpReadThrough();
    await cache.get('k', load('half', { freshMs: 60_000, isStorable: false }), WAIT);
    expect(store.entries.size).toBe(0);
    clock.advance(60_000);
    expect((await cache.get('k', load('whole'), WAIT)).value).toBe('whole');
  });
});
