import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createTestRuntime, heldBy } from '../../test/helpers/runtime.ts';
import { createFailSoftStore } from '../store/fail-soft.ts';
import { EVERYTHING, type Removal, removalOf } from '../store/removal.ts';
import { createPurge, RemovalDelayed, type Unfinished } from './purge.ts';

const [FIRST, SECOND] = ['UCfirst________________A', 'UCsecond_______________A'].map((id) => removalOf([id])) as [
  Removal,
  Removal,
];

function setUp() {
  const clock = createManualClock();
  const removed: Record<'disk' | 'redis', Removal[]> = { disk: [], redis: [] };
  const states: [problem: string | null, error: unknown][] = [];
  let failure: Error | undefined;
  let saved: Unfinished = { store: [], images: [] };
  const stores = {
    // Only a purge by name looks there.
    caches: {} as Parameters<typeof createPurge>[0]['stores']['caches'],
    images: {
      async erase(removal: Removal) {
        removed.disk.push(removal);
        return { files: 2, bytes: 20 };
      },
    },
    store: {
      isShared: true,
      async erase(removal: Removal) {
        if (failure !== undefined) throw failure;
        removed.redis.push(removal);
        return { channel: 1, name: 2 };
      },
    },
  };
  /** Like a start. */
  function create() {
    const runtime = createTestRuntime({ clock });
    runtime.health.report = (_component, problem, error) => states.push([problem, error]);
    return createPurge({
      stores: { ...stores, unfinished: new Set() },
      runtime,
      onUnfinished(unfinished) {
        saved = unfinished;
      },
    });
  }
  return {
    clock,
    create,
    purge: create(),
    removed,
    states,
    saved: () => saved,
    fail(error: Error | undefined) {
      failure = error;
    },
  };
}

test('the result counts what every part has removed', async () => {
  const { purge, states, saved } = setUp();
  const removing = purge.remove(FIRST);
  expect(saved()).toEqual({ store: [FIRST], images: [FIRST] });
  expect(await removing).toEqual({ entries: { channel: 1, name: 2 }, images: 2, imageBytes: 20 });
  expect([states, saved()]).toEqual([[], { store: [], images: [] }]);
});

test('a part that fails delays no other, and is retried every second until it succeeds', async () => {
  const { clock, purge, removed, states, saved, fail } = setUp();
  const down = new Error('down');
  fail(down);
  for (const removal of [FIRST, SECOND]) {
    const removing = purge.remove(removal);
    await expect(removing).rejects.toThrow(RemovalDelayed);
    await expect(removing).rejects.toThrow('it is still in Redis');
  }
  expect([removed, saved()]).toEqual([
    { disk: [FIRST, SECOND], redis: [] },
    { store: [FIRST, SECOND], images: [] },
  ]);
  await clock.passTimer(1_000);
  await clock.passTimer(1_000);
  fail(undefined);
  await clock.passTimer(1_000);
  await expect.poll(() => states.at(-1)).toEqual([null, undefined]);
  expect([removed.disk, new Set(removed.redis), saved()]).toEqual([
    [FIRST, SECOND],
    new Set([FIRST, SECOND]),
    { store: [], images: [] },
  ]);
  const problem = 'what was purged or taken down is still in Redis; retrying until it is removed';
  expect(new Set(states.slice(0, -1).map((state) => JSON.stringify(state)))).toEqual(
    new Set(
      [
        [problem, down],
        [problem, undefined],
      ].map((state) => JSON.stringify(state)),
    ),
  );
});

test('more than a hundred delayed removals become one of everything', async () => {
  const { clock, purge, removed, saved, fail } = setUp();
  fail(new Error('down'));
  for (let count = 0; count < 101; count += 1) {
    await expect(purge.remove(removalOf([]))).rejects.toThrow(RemovalDelayed);
  }
  fail(undefined);
  await clock.passTimer(1_000);
  await expect.poll(() => saved().store).toEqual([]);
  expect(removed.redis).toEqual([EVERYTHING]);
});

test('the next start continues with what is unfinished', async () => {
  const { create, purge, removed, saved, fail } = setUp();
  fail(new Error('down'));
  await expect(purge.remove(FIRST)).rejects.toThrow(RemovalDelayed);
  await purge.close();
  fail(undefined);
  await create().resume(saved());
  expect([removed, saved()]).toEqual([
    { disk: [FIRST], redis: [FIRST] },
    { store: [], images: [] },
  ]);
});

test('nothing is retried after close', async () => {
  const { clock, purge, removed, fail } = setUp();
  fail(new Error('down'));
  await expect(purge.remove(FIRST)).rejects.toThrow(RemovalDelayed);
  await purge.close();
  fail(undefined);
  clock.advance(60_000);
  expect(removed.redis).toEqual([]);
});

test('the store is used again after many failed removals, which are bounded', async () => {
  const clock = createManualClock();
  const runtime = createTestRuntime({ clock });
  const unfinished = new Set<Removal>();
  let isFailing = true;
  const backing = {
    get: async () => ({ value: 'value', storedAtMs: 1 }),
    set: async () => undefined,
    async erase() {
      if (isFailing) throw new Error('down');
      return {};
    },
    close: async () => undefined,
  };
  const store = createFailSoftStore({ store: backing, runtime, unfinished, readTimeoutMs: 60_000 });
  const caches = {} as Parameters<typeof createPurge>[0]['stores']['caches'];
  const images = { erase: async () => ({ files: 0, bytes: 0 }) };
  const purge = createPurge({ stores: { caches, store, unfinished, images }, runtime });
  for (let count = 0; count < 1_000; count += 1) {
    await expect(purge.remove(removalOf([`UC${count}`]))).rejects.toThrow(RemovalDelayed);
  }
  const { entries = 0, maxEntries = 0 } = heldBy(runtime, 'removals that failed');
  expect([entries <= maxEntries, unfinished.size <= maxEntries, await store.get('key')]).toEqual([
    true,
    true,
    undefined,
  ]);
  isFailing = false;
  await clock.passTimer(1_000);
  await expect.poll(() => store.get('key')).toEqual({ value: 'value', storedAtMs: 1 });
});
