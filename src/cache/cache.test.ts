import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { describeCache } from '../../test/contracts/cache.ts';
import { HOUR_MS, memoryStore, testCache, WAIT } from '../../test/helpers/cache.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { openEntries } from '../../test/helpers/entries.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { COMPARE_MS } from './cache.ts';

describeCache('cache.db', async () => {
  const path = join(await createTemporaryDirectory(), 'cache.db');
  return { open: (clock) => openEntries(path, { clock }).table };
});

describe('the cache in front of a store that instances share', () => {
  function setUpTwo() {
    const clock = createManualClock();
    const store = { ...memoryStore(), isShared: true };
    const open = () => testCache<string>({ freshMs: HOUR_MS, graceMs: 168 * HOUR_MS }, { clock, store });
    return { clock, store, first: open(), second: open() };
  }
  const load = (value: string) => async () => ({ value });

  test('reads the store again when it has not for 30 s', async () => {
    const { clock, store, first } = setUpTwo();
    const reads = vi.spyOn(store, 'get');
    await first.get('k', load('a'), WAIT);
    clock.advance(COMPARE_MS - 1);
    await first.get('k', load('b'), WAIT);
    expect(reads).toHaveBeenCalledTimes(1);
    clock.advance(1);
    expect(await first.get('k', load('b'), WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'hit' } });
    await first.peek('k');
    expect(reads).toHaveBeenCalledTimes(2);
  });

  test('loads again what another instance has purged', async () => {
    const { clock, store, first } = setUpTwo();
    await first.get('k', load('a'), WAIT);
    store.entries.clear();
    clock.advance(COMPARE_MS - 1);
    expect((await first.get('k', load('b'), WAIT)).value).toBe('a');
    clock.advance(1);
    expect(await first.peek('k')).toBeUndefined();
    expect((await first.get('k', load('b'), { softTimeoutMs: 0 })).value).toBe('b');
  });

  test('keeps what is in memory while the store fails, and loads what is not', async () => {
    const { clock, store, first } = setUpTwo();
    await first.get('k', load('a'), WAIT);
    store.get = () => Promise.reject(new Error('down'));
    clock.advance(COMPARE_MS);
    expect(await first.get('k', load('b'), WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'hit' } });
    expect((await first.peek('k'))?.value).toBe('a');
    expect((await first.get('other', load('b'), WAIT)).value).toBe('b');
  });
});

test('a value that was loaded during a slow read from the store is not replaced by the stored one', async () => {
  const clock = createManualClock();
  const store = memoryStore();
  const read = Promise.withResolvers<void>();
  const cache = testCache<string>({ freshMs: HOUR_MS, graceMs: HOUR_MS }, { clock, store });
  const old = { value: '{"value":"old","freshMs":3600000}', storedAtMs: clock.now() - 1 };
  store.get = async () => {
    await read.promise;
    return old;
  };
  const waiting = cache.peek('k');
  store.get = async () => undefined;
  await cache.put('k', async () => ({ value: 'new' }));
  read.resolve();
  await waiting;
  expect((await cache.peek('k'))?.value).toBe('new');
});
