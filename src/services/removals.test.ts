import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { type AnnouncedChange, changeOfChannels, createChanges } from '../store/changes.ts';
import { createRemovals, RemovalDelayed } from './removals.ts';

const [FIRST, SECOND] = ['UCfirst________________A', 'UCsecond_______________A'];

function setUp() {
  const clock = createManualClock();
  const changes = createChanges();
  const removed: Record<string, string[][]> = { disk: [], redis: [] };
  const states: [readonly string[], unknown][] = [];
  let failure: Error | undefined;
  const idsOf = (announced: readonly AnnouncedChange[]) => announced.flatMap(({ change }) => [...change.channelIds]);
  const removals = createRemovals<string>({
    clock,
    parts: [
      {
        name: 'the disk',
        async remove(announced) {
          removed.disk?.push(idsOf(announced));
          return 'disk';
        },
      },
      {
        name: 'Redis',
        async remove(announced) {
          if (failure !== undefined) throw failure;
          removed.redis?.push(idsOf(announced));
          return 'redis';
        },
      },
    ],
    onStateChange: (waiting, error) => states.push([waiting, error]),
  });
  return {
    clock,
    removals,
    removed,
    states,
    remove: (channelId: string) => removals.remove([changes.announce(changeOfChannels(new Set([channelId])))]),
    fail(error: Error | undefined) {
      failure = error;
    },
  };
}

test('every component returns what it has removed', async () => {
  const { remove, states } = setUp();
  expect(await remove(FIRST)).toEqual(['disk', 'redis']);
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
  const { clock, removals, remove, removed, fail } = setUp();
  fail(new Error('down'));
  await expect(remove(FIRST)).rejects.toThrow(RemovalDelayed);
  await removals.close();
  fail(undefined);
  clock.advance(60_000);
  expect(removed.redis).toEqual([]);
});
