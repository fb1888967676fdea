import { describe, expect, test, vi } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { fail, HOUR_MS, memoryStore, setUpReadThrough, WAIT } from '../../test/helpers/read-through.ts';
import { AppError } from '../domain/errors.ts';
import { COMPARE_MS } from './read-through.ts';

describe('the read-through cache over a store that instances share', () => {
  function setUpTwo() {
    const store = { ...memoryStore(), isShared: true };
    const clock = createManualClock();
    return [setUpReadThrough(store, clock), setUpReadThrough(store, clock)] as const;
  }

  test('uses a value that another instance has loaded, instead of loading it', async () => {
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

  test.each([
    ['a request does not wait for a load', false],
    ['its own load has just failed', true],
  ])('uses a newer value of another instance although %s', async (_why, hasFailed) => {
    const [first, second] = setUpTwo();
    await first.cache.get('k', first.load('a'), WAIT);
    await second.cache.get('k', second.load('b'), WAIT);
    first.clock.advance(HOUR_MS);
    if (hasFailed) expect((await second.cache.get('k', fail, WAIT)).outcome.kind).toBe('stale');
    await first.cache.get('k', first.load('c'), WAIT);
    const found = await second.cache.get('k', second.load('d'), { softTimeoutMs: 0 });
    expect(found).toMatchObject({ value: 'c', outcome: { kind: 'hit' } });
    expect(second.loads()).toBe(0);
  });

  test('finds a channel that another instance has loaded after it was absent', async () => {
    const [first, second] = setUpTwo();
    const absent = async () => {
      throw new AppError('channel_not_found', 'gone');
    };
    await expect(second.cache.get('k', absent, WAIT)).rejects.toMatchObject({ code: 'channel_not_found' });
    first.clock.advance(60_000);
    await first.cache.get('k', first.load('a'), WAIT);
    expect((await second.cache.get('k', second.load('b'), WAIT)).value).toBe('a');
  });

  test('loads when the stored value is stale too, or not current', async () => {
    const [first, second] = setUpTwo();
    await first.cache.get('k', first.load('a'), WAIT);
    await second.cache.get('k', second.load('b'), WAIT);
    first.clock.advance(HOUR_MS);
    expect((await second.cache.get('k', second.load('c'), WAIT)).value).toBe('c');
    const options = { ...WAIT, isCurrent: (value: string) => value === 'd' };
    expect((await first.cache.get('k', first.load('d'), options)).value).toBe('d');
  });

  test('reads the store again when it has not for 30 s, once for all callers', async () => {
    const [{ cache, store, clock, load }] = setUpTwo();
    const reads = vi.spyOn(store, 'read');
    await cache.get('k', load('a'), WAIT);
    clock.advance(COMPARE_MS - 1);
    await cache.get('k', load('b'), WAIT);
    expect(reads).toHaveBeenCalledTimes(1);
    clock.advance(1);
    const found = await Promise.all([1, 2, 3].map(() => cache.get('k', load('b'), WAIT)));
    expect(found.map(({ value, outcome }) => [value, outcome.kind])).toEqual(Array(3).fill(['a', 'hit']));
    await cache.peek('k');
    expect(reads).toHaveBeenCalledTimes(2);
  });

  test('loads again what another instance has purged, and returns the former value only if that fails', async () => {
    const [{ cache, store, clock, load }] = setUpTwo();
    await cache.get('k', load('a'), WAIT);
    store.entries.clear();
    clock.advance(COMPARE_MS - 1);
    expect((await cache.get('k', load('b'), WAIT)).value).toBe('a');
    clock.advance(1);
    expect(await cache.peek('k')).toBeUndefined();
    expect(await cache.get('k', fail, { softTimeoutMs: 0 })).toMatchObject({ value: 'a', outcome: { kind: 'stale' } });
    clock.advance(60_000);
    expect((await cache.get('k', load('b'), { softTimeoutMs: 0 })).value).toBe('b');
  });

  test('uses the value of another instance that has purged and loaded it', async () => {
    const [first, second] = setUpTwo();
    await first.cache.get('k', first.load('a'), WAIT);
    await second.cache.get('k', second.load('a'), WAIT);
    first.clock.advance(1);
    await first.cache.reload('k', first.load('b'));
    first.clock.advance(COMPARE_MS);
    expect(await second.cache.get('k', fail, WAIT)).toMatchObject({ value: 'b', outcome: { kind: 'hit' } });
  });

  test('keeps what is in memory while the store fails', async () => {
    const [{ cache, store, clock, load }] = setUpTwo();
    await cache.get('k', load('a'), WAIT);
    store.read = () => Promise.reject(new Error('down'));
    clock.advance(COMPARE_MS);
    expect(await cache.get('k', load('b'), WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'hit' } });
    expect((await cache.peek('k'))?.value).toBe('a');
  });
});

describe('a stored value', () => {
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
  ])('is refused, counted and replaced if it was not written by the service: %#', async (value) => {
    const { cache, store, clock, refused, load } = setUpReadThrough();
    store.entries.set('k', { value, storedAtMs: clock.now() });
    expect(await cache.get('k', load('a'), WAIT)).toMatchObject({ value: 'a', outcome: { kind: 'miss' } });
    expect(refused).toEqual(['k']);
    expect(store.entries.get('k')?.value).toBe('{"value":"a","freshMs":3600000}');
  });

  test('of an absence never gives its message to the client', async () => {
    const { cache, store, clock, load } = setUpReadThrough();
    const value = '{"absent":"Visit https://elsewhere.example","freshMs":60000}';
    store.entries.set('k', { value, storedAtMs: clock.now() });
    await expect(cache.get('k', load('a'), WAIT)).rejects.toMatchObject({
      code: 'channel_not_found',
      message: 'There is no such channel.',
    });
  });

  test('is not returned after its limit, even if the store keeps it for longer', async () => {
    const { cache, store, clock } = setUpReadThrough();
    store.entries.set('k', { value: '{"value":"a","freshMs":1000}', storedAtMs: clock.now() - 168 * HOUR_MS });
    await expect(cache.get('k', fail, WAIT)).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });
});
