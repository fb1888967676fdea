import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { type AnnouncedChange, type Change, createChanges } from '../store/changes.ts';
import { createPurge, RemovalDelayed } from './purge.ts';

const [FIRST, SECOND] = ['UCfirst________________A', 'UCsecond_______________A'];

function setUp() {
  const clock = createManualClock();
  const removed: Record<'disk' | 'redis' | 'published', string[][]> = { disk: [], redis: [], published: [] };
  const states: [problem: string | null, error: unknown][] = [];
  let failure: Error | undefined;
  let isPublishingFailing = false;
  const idsOf = (change: Change) => [...change.channelIds];
  const { health } = createTestRuntime({ clock });
  const stores = {
    changes: createChanges(),
    // Only a purge by name looks there.
    caches: {} as Parameters<typeof createPurge>[0]['caches'],
    images: {
      async erase(change: Change) {
        removed.disk.push(idsOf(change));
        return { files: 2, bytes: 20 };
      },
    },
    sharedChanges: {
      async publish(announced: AnnouncedChange) {
        if (failure !== undefined && isPublishingFailing) throw failure;
        removed.published.push(idsOf(announced.change));
        announced.position = `${removed.published.length}-0`;
      },
    },
    store: {
      async erase(change: Change) {
        if (failure !== undefined) throw failure;
        removed.redis.push(idsOf(change));
        return ['channel1:first', 'name1:first', 'name1:second'];
      },
    },
  };
  const report: typeof health.report = (_component, problem, error) => states.push([problem, error]);
  const purge = createPurge(stores, { clock, health: { ...health, report } });
  return {
    clock,
    purge,
    removed,
    states,
    remove: (channelId: string) => purge.purgeChannels([channelId]),
    fail(error: Error | undefined) {
      failure = error;
    },
    failPublishing() {
      isPublishingFailing = true;
    },
  };
}

test('the result counts what every component has removed', async () => {
  const { remove, states } = setUp();
  expect(await remove(FIRST)).toEqual({ entries: { channel: 1, name: 2 }, images: 2, imageBytes: 20 });
  expect(states).toEqual([]);
});

test('a component that fails delays no other, and is retried every second until it succeeds', async () => {
  const { clock, remove, removed, states, fail } = setUp();
  const down = new Error('down');
  fail(down);
  for (const channelId of [FIRST, SECOND]) {
    const removing = remove(channelId);
    await expect(removing).rejects.toThrow(RemovalDelayed);
    await expect(removing).rejects.toThrow('it is still in Redis');
  }
  expect(removed).toEqual({ disk: [[FIRST], [SECOND]], redis: [], published: [[FIRST], [SECOND]] });
  await clock.passTimer(1_000);
  await clock.passTimer(1_000);
  fail(undefined);
  await clock.passTimer(1_000);
  await expect.poll(() => removed.redis).toEqual([[SECOND, FIRST]]);
  expect(states.at(-1)).toEqual([null, undefined]);
  const problem = 'what was purged or taken down is still in Redis; retrying until it is removed';
  expect(states.slice(0, -1)).toEqual(Array(4).fill([problem, down]));
});

test('many delayed changes become one, which is published again because it has no position of its own', async () => {
  const { clock, remove, removed, fail, failPublishing } = setUp();
  fail(new Error('down'));
  await expect(remove(FIRST)).rejects.toThrow(RemovalDelayed);
  failPublishing();
  for (let count = 0; count < 100; count += 1) await expect(remove(SECOND)).rejects.toThrow(RemovalDelayed);
  fail(undefined);
  await clock.passTimer(1_000);
  await expect.poll(() => removed.redis).toEqual([[SECOND, FIRST]]);
  expect(removed.published).toEqual([[FIRST], [SECOND, FIRST]]);
});

test('nothing is retried after close', async () => {
  const { clock, purge, remove, removed, fail } = setUp();
  fail(new Error('down'));
  await expect(remove(FIRST)).rejects.toThrow(RemovalDelayed);
  await purge.close();
  fail(undefined);
  clock.advance(60_000);
  expect(removed.redis).toEqual([]);
});
