import { describe, expect, test, vi } from 'vitest';
import { describeCache } from '../../test/contracts/cache.ts';
import { fail, HOUR_MS, memoryStore, testCache, WAIT } from '../../test/helpers/cache.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { openValues } from '../../test/helpers/images.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { COMPARE_MS } from './cache.ts';
import { ABSENCE } from './values.ts';

describeCache('cache.db', async () => {
  const dataDir = await createTemporaryDirectory();
  return { open: (clock) => openValues(dataDir, { clock }) };
});

describe('the cache in front of a store that instances share', () => {
  function setUpTwo() {
    const clock = createManualClock();
    const store = { ...memoryStore(), isShared: true };
    const open = () => testCache<string | null>({ freshMs: HOUR_MS, graceMs: 168 * HOUR_MS }, { clock, store });
    return { clock, store, first: open(), second: open() };
  }
  const load = (value: string) => async () => ({ value });
  const AT_ONCE = { softTimeoutMs: 0 };

  test('reads the store again when it has not for 30 s', async () => {
    const { clock, store, first } = setUpTwo();
    const reads = vi.spyOn(store, 'get');
    await first.get('k', load('a'), WAIT);
    clock.advance(COMPARE_MS - 1);
    await first.get('k', load('b'), WAIT);
    expect(reads).toHaveBeenCalledTimes(1);
    clock.advance(1);
    expect(await first.get('k', load('b'), WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'hit' } });
    await first.getCached('k');
    expect(reads).toHaveBeenCalledTimes(2);
  });

  test.each<[what: string, lose: (store: ReturnType<typeof memoryStore>, former: string | undefined) => unknown]>([
    ['no longer has', (store) => store.entries.clear()],
    ['has an older one of', (store, former = '') => store.entries.set('k', former)],
  ])('waits for a new load of what the store %s, which has no previous value', async (_what, lose) => {
    const { clock, store, first } = setUpTwo();
    await first.get('k', load('former'), WAIT);
    const former = store.entries.get('k');
    clock.advance(HOUR_MS);
    const { storedAtMs } = await first.get('k', load('a'), WAIT);
    lose(store, former);
    clock.advance(COMPARE_MS - 1);
    expect((await first.get('k', load('b'), WAIT)).value).toBe('a');
    clock.advance(1);
    await first.expire('k', storedAtMs);
    expect(await first.getCached('k')).toBeUndefined();
    const loaded = first.get('k', async (previous) => ({ value: `${previous}` }), AT_ONCE);
    expect(await loaded).toMatchObject({ value: 'undefined', outcome: { kind: 'miss' } });
  });

  test('does not return an absence that the store has lost', async () => {
    const { clock, store, first } = setUpTwo();
    await first.get('k', async () => ABSENCE, WAIT);
    store.entries.clear();
    clock.advance(COMPARE_MS);
    await expect(first.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });
});

test('a value that was loaded during a slow read from the store is not replaced by the stored one', async () => {
  const clock = createManualClock();
  const store = memoryStore();
  const read = Promise.withResolvers<void>();
  const cache = testCache<string>({ freshMs: HOUR_MS, graceMs: HOUR_MS }, { clock, store });
  const old = JSON.stringify({ value: 'old', storedAtMs: clock.now() - 1, freshMs: HOUR_MS });
  store.get = async () => {
    await read.promise;
    return old;
  };
  const waiting = cache.getCached('k');
  store.get = async () => undefined;
  cache.put('k', { value: 'new' });
  read.resolve();
  await waiting;
  expect((await cache.getCached('k'))?.value).toBe('new');
});
