import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { type AnnouncedChange, createChanges } from '../store/changes.ts';
import { createPurge, RemovalDelayed } from './purge.ts';

const [FIRST, SECOND] = ['UCfirst________________A', 'UCsecond_______________A'];

function setUp() {
  const clock = createManualClock();
  const removed: Record<string, string[][]> = { disk: [], redis: [] };
  const states: [readonly string[], unknown][] = [];
  let failure: Error | undefined;
  const idsOf = (announced: readonly AnnouncedChange[]) => announced.flatMap(({ change }) => [...change.channelIds]);
  const purge = createPurge({
    clock,
    changes: createChanges(),
    // Only a purge by name looks there.
    caches: {} as Parameters<typeof createPurge>[0]['caches'],
    parts: [
      {
        name: 'the disk',
        async remove(announced) {
          removed.disk?.push(idsOf(announced));
          return { files: 2, bytes: 20 };
        },
      },
      {
        name: 'Redis',
        async remove(announced) {
          if (failure !== undefined) throw failure;
          removed.redis?.push(idsOf(announced));
          return { keys: ['channel1:first', 'name1:first', 'name1:second'] };
        },
      },
    ],
    onStateChange: (waiting, error) => states.push([waiting, error]),
  });
  return {
    clock,
    purge,
    removed,
    states,
    remove: (channelId: string) => purge.purgeChannels([channelId]),
    fail(error: Error | undefined) {
      failure = error;
    },
  };
}

test('the result counts what every component has removed', async () => {
  const { remove, states } = setUp();
  expect(await remove(FIRST)).toEqual({ entries: { channel: 1, name: 2 }, pictures: 2, pictureBytes: 20 });
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
  expect(removed).toEqual({ disk: [[FIRST], [SECOND]], redis: [] });
  await clock.passTimer(1_000);
  await clock.passTimer(1_000);
  fail(undefined);
  await clock.passTimer(1_000);
  await expect.poll(() => removed.redis).toEqual([[SECOND, FIRST]]);
  expect(states.at(-1)).toEqual([[], undefined]);
  expect(states.slice(0, -1)).toEqual(Array(4).fill([['Redis'], down]));
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
