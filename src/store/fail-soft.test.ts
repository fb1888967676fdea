import { expect, it } from 'vitest';
import { createTestRuntime, readBound } from '../../test/helpers/runtime.ts';
import { createFailSoftStore } from './fail-soft.ts';
import type { BackingStore } from './store.ts';

const ENTRY = { value: '1', storedAtMs: 0 };

/** A store whose reads and writes fail as the test says. */
function createBrokenStore(more: Partial<BackingStore> = {}) {
  const broken = { reads: false, writes: false };
  const fail = (isBroken: boolean) => {
    if (isBroken) throw new Error('broken');
  };
  const store: BackingStore = {
    async get() {
      fail(broken.reads);
      return undefined;
    },
    async set() {
      fail(broken.writes);
    },
    erase: async () => ({}),
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

it('bounds the pending writes', async () => {
  const { guarded, states, runtime } = createBrokenStore({ set: () => new Promise(() => undefined) });
  for (let number = 0; number < 10_100; number += 1) void guarded.set(`key ${number}`, ENTRY, 1_000);
  expect([await readBound(runtime.metrics, 'pennant_store_writes'), states]).toEqual([
    expect.objectContaining({ entries: 10_000, maxEntries: 10_000 }),
    [false],
  ]);
  const others = createBrokenStore({ set: () => new Promise(() => undefined) });
  for (let number = 0; number < 100; number += 1) {
    void others.guarded.set(`key ${number}`, { value: 'x'.repeat(500_000), storedAtMs: 0 }, 1_000);
  }
  const { bytes, maxBytes } = await readBound(others.runtime.metrics, 'pennant_store_writes');
  expect([bytes > maxBytes - 1_100_000, bytes <= maxBytes]).toEqual([true, true]);
});
