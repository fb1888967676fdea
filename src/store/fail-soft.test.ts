import { describe, expect, it } from 'vitest';
import { createTestRuntime, heldBy } from '../../test/helpers/runtime.ts';
import { asWork } from '../lib/work.ts';
import { createFailSoftStore } from './fail-soft.ts';
import { EVERYTHING, type Removal, removalOf } from './removal.ts';
import type { ErasableStore } from './store.ts';

const ENTRY = { value: '1', storedAtMs: 0 };

/** A store whose reads and writes fail as the test says. */
function createBrokenStore(more: Partial<ErasableStore> = {}) {
  const broken = { reads: false, writes: false };
  const fail = (isBroken: boolean) => {
    if (isBroken) throw new Error('broken');
  };
  const store: ErasableStore = {
    async get() {
      fail(broken.reads);
      return undefined;
    },
    async set() {
      fail(broken.writes);
    },
    async erase() {
      fail(broken.writes);
      return {};
    },
    async close() {},
    ...more,
  };
  const states: boolean[] = [];
  const runtime = createTestRuntime();
  runtime.health.report = (_component, problem) => states.push(problem === null);
  return {
    runtime,
    broken,
    states,
    guarded: createFailSoftStore({
      store,
      runtime,
      unfinished: new Set(),
      readTimeoutMs: 500,
    }),
  };
}

it('a full disk is reported once, also when reads succeed, and its recovery once', async () => {
  const { broken, states, guarded } = createBrokenStore();
  broken.writes = true;
  for (let count = 0; count < 3; count += 1) {
    await guarded.set('key', ENTRY, 1_000);
    await guarded.get('key');
  }
  expect(states).toEqual([false]);
  broken.writes = false;
  await guarded.set('key', ENTRY, 1_000);
  expect(states).toEqual([false, true]);
});

it('is healthy again only after a successful read and write', async () => {
  const { broken, states, guarded } = createBrokenStore();
  broken.reads = true;
  broken.writes = true;
  await guarded.get('key');
  await guarded.set('key', ENTRY, 1_000);
  broken.reads = false;
  await guarded.get('key');
  expect(states).toEqual([false]);
  broken.writes = false;
  await guarded.set('key', ENTRY, 1_000);
  expect(states).toEqual([false, true]);
});

it('rejects when erasing fails', async () => {
  const { broken, guarded } = createBrokenStore();
  broken.writes = true;
  await expect(guarded.erase(EVERYTHING)).rejects.toThrow('broken');
});

describe('an erasure', () => {
  const KEY = 'channel1:UCkept_________________A';
  const REMOVAL = removalOf(['UCgone_________________A']);

  /** A store of one entry. Erasures wait for the test. */
  function createSlowStore() {
    const erasures: PromiseWithResolvers<void>[] = [];
    const written: string[] = [];
    let reads = 0;
    const store: ErasableStore = {
      async get() {
        reads += 1;
        return ENTRY;
      },
      async set(key) {
        written.push(key);
      },
      async erase() {
        const erasure = Promise.withResolvers<void>();
        erasures.push(erasure);
        await erasure.promise;
        return { channel: 1 };
      },
      close: async () => undefined,
    };
    const unfinished = new Set<Removal>();
    const guarded = createFailSoftStore({ store, runtime: createTestRuntime(), unfinished, readTimeoutMs: 60_000 });
    return { erasures, written, guarded, unfinished, reads: () => reads };
  }

  it('delays reads and writes until it has ended', async () => {
    const { erasures, written, guarded, reads } = createSlowStore();
    const erasing = guarded.erase(REMOVAL);
    const reading = guarded.get(KEY);
    const writing = guarded.set(KEY, ENTRY, 1_000);
    expect([reads(), written]).toEqual([0, []]);
    erasures[0]?.resolve();
    expect(await erasing).toEqual({ channel: 1 });
    await writing;
    expect([await reading, reads(), written]).toEqual([ENTRY, 1, [KEY]]);
  });

  it.each([
    ['it is repeated', REMOVAL],
    ['one that replaces it has succeeded', EVERYTHING],
  ])('that failed keeps the store from being used until %s', async (_what, repeated) => {
    const { erasures, guarded, unfinished } = createSlowStore();
    const [erasing, other] = [guarded.erase(REMOVAL), guarded.erase(removalOf([]))];
    erasures[0]?.reject(new Error('broken'));
    erasures[1]?.resolve();
    await expect(erasing).rejects.toThrow('broken');
    await other;
    expect(await guarded.get(KEY)).toBeUndefined();
    unfinished.delete(REMOVAL);
    const repeating = guarded.erase(repeated);
    const reading = guarded.get(KEY);
    erasures[2]?.resolve();
    await repeating;
    expect(await reading).toEqual(ENTRY);
  });
});

it('stores no results of work that began in an earlier epoch', async () => {
  const written: string[] = [];
  const { guarded, runtime } = createBrokenStore({ set: async (key) => void written.push(key) });
  await asWork(runtime.epochs.current(), async () => {
    await guarded.set('before', ENTRY, 1_000);
    runtime.epochs.next('purge');
    await guarded.set('after', ENTRY, 1_000);
  });
  expect(written).toEqual(['before']);
});

it('bounds the pending writes', () => {
  const { guarded, states, runtime } = createBrokenStore({ set: () => new Promise(() => undefined) });
  for (let number = 0; number < 10_100; number += 1) void guarded.set(`key ${number}`, ENTRY, 1_000);
  expect([heldBy(runtime, 'writes to the store'), states]).toEqual([
    expect.objectContaining({ entries: 10_000, maxEntries: 10_000 }),
    [false],
  ]);
  const others = createBrokenStore({ set: () => new Promise(() => undefined) });
  for (let number = 0; number < 100; number += 1) {
    void others.guarded.set(`key ${number}`, { value: 'x'.repeat(500_000), storedAtMs: 0 }, 1_000);
  }
  const { bytes = 0, maxBytes = 0 } = heldBy(others.runtime, 'writes to the store');
  expect([bytes > maxBytes - 1_100_000, bytes <= maxBytes]).toEqual([true, true]);
});
