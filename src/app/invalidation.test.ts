import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { parseConfig } from '../config/settings.ts';
import { createLogger } from '../lib/logger.ts';
import { createRuntime } from '../lib/runtime.ts';
import { changeOfChannels, createChanges } from '../store/changes.ts';
import { type AppliedPositions, createInvalidation } from './invalidation.ts';
import type { Stores } from './stores.ts';

const READ_MS = 500;

/** Follows two changes of another instance. @param erase removes the images of a change */
async function followTwoChanges(erase: () => Promise<{ files: number; bytes: number }> | undefined) {
  const clock = createManualClock();
  const changes = createChanges();
  let position = '0-0';
  const published = ['1-0', '2-0'];
  const stores = {
    changes,
    sharedChanges: {
      // The third read finds no change.
      async receive() {
        const next = published.shift();
        if (next === undefined) return [];
        position = next;
        return [changes.announce(changeOfChannels(new Set([`UC${next}`])), next)];
      },
      position: () => position,
      publish: async () => undefined,
    },
    store: { erase: async () => [] },
    images: { erase },
    caches: {},
  } as unknown as Stores;
  const saved: AppliedPositions[] = [];
  const applied = { positions: () => saved.at(-1) ?? {}, save: (positions: AppliedPositions) => saved.push(positions) };
  const config = parseConfig({ SOURCES: 'youtube' });
  const runtime = createRuntime({ clock, logger: createLogger({ level: 'silent' }) });
  const invalidation = createInvalidation(config, runtime, { stores, applied });
  onTestFinished(() => invalidation.stop());
  await invalidation.start();
  for (let read = 0; read < 2; read += 1) await clock.passTimer(READ_MS);
  return { clock, saved };
}

/** All promises that can settle now do so before this one. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

it('saves the position of a change only after its files and those of all earlier changes are removed', async () => {
  const removals = [1, 2].map(() => Promise.withResolvers<{ files: number; bytes: number }>());
  const begun = removals.values();
  const { saved } = await followTwoChanges(() => begun.next().value?.promise);
  removals[1]?.resolve({ files: 0, bytes: 0 });
  await settled();
  expect(saved).toEqual([]);
  removals[0]?.resolve({ files: 0, bytes: 0 });
  await expect.poll(() => saved).toEqual([{ redis: '1-0' }, { redis: '2-0' }]);
});

it('saves the positions once a delayed removal has succeeded', async () => {
  let failures = 2;
  const { clock, saved } = await followTwoChanges(async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('the disk fails');
    return { files: 0, bytes: 0 };
  });
  await settled();
  expect(saved).toEqual([]);
  // The removal is retried every second; the changes are read every half second.
  await clock.passTimer(READ_MS);
  await clock.passTimer(READ_MS);
  await expect.poll(() => saved).toEqual([{ redis: '1-0' }, { redis: '2-0' }]);
});
