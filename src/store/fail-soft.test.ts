import { describe, expect, it } from 'vitest';
import { createTestRuntime, heldBy } from '../../test/helpers/runtime.ts';
import { asWork } from '../lib/work.ts';
import { changeOfChannels, createChanges, EVERYTHING } from './changes.ts';
import { createFailSoftStore } from './fail-soft.ts';
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
      return [];
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
      changes: createChanges(),
      runtime,
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

describe('a change', () => {
  const KEY = 'channel1:UCgone_________________A';
  const OLD = { value: '{"value":"old"}', storedAtMs: 0 };
  const CHANGE = changeOfChannels(new Set(['UCgone_________________A']));

  /** A store of one entry whose next read and next erasure wait for the test. */
  function createSlowStore() {
    const read = Promise.withResolvers<typeof OLD>();
    const erased = Promise.withResolvers<void>();
    const written: string[] = [];
    const store: ErasableStore = {
      get: () => read.promise,
      async set(key) {
        written.push(key);
      },
      async erase() {
        await erased.promise;
        return [KEY];
      },
      close: async () => undefined,
    };
    const changes = createChanges();
    const guarded = createFailSoftStore({
      store,
      changes,
      runtime: createTestRuntime(),
      readTimeoutMs: 60_000,
    });
    return { read, erased, written, changes, guarded };
  }

  it('hides entries that were being read when it arrived', async () => {
    const { read, changes, guarded } = createSlowStore();
    const [reading, other] = [guarded.get(KEY), guarded.get('channel1:UCkept_________________A')];
    changes.announce(CHANGE);
    read.resolve(OLD);
    expect([await reading, await other]).toEqual([undefined, OLD]);
  });

  it('hides entries while they are being erased', async () => {
    const { read, erased, changes, guarded } = createSlowStore();
    read.resolve(OLD);
    changes.announce(CHANGE);
    const erasing = guarded.erase(CHANGE);
    const during = guarded.get(KEY);
    expect(await during).toBeUndefined();
    expect(await guarded.get('name1:handle:kept')).toEqual(OLD);
    const late = guarded.get(KEY);
    erased.resolve();
    expect([await erasing, await late]).toEqual([[KEY], undefined]);
  });

  it('prevents earlier work from storing its result', async () => {
    const { written, changes, guarded } = createSlowStore();
    await asWork(async () => {
      changes.announce(CHANGE);
      await guarded.set(KEY, OLD, 1_000);
      await guarded.set('name1:handle:gone', { value: '{"value":"UCgone_________________A"}', storedAtMs: 0 }, 1_000);
      await guarded.set('name1:handle:kept', OLD, 1_000);
    });
    expect(written).toEqual(['name1:handle:kept']);
    await guarded.set(KEY, OLD, 1_000);
    expect(written).toEqual(['name1:handle:kept', KEY]);
  });
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
