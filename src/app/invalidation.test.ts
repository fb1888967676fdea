import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { parseConfig } from '../config/settings.ts';
import { createLogger } from '../lib/logger.ts';
import { createRuntime } from '../lib/runtime.ts';
import { changeOfChannels, createChanges } from '../store/changes.ts';
import { type AppliedPositions, createInvalidation } from './invalidation.ts';
import type { Stores } from './stores.ts';

const READ_MS = 500;
/** How long a failed removal waits for its next attempt. */
const RETRY_MS = 1_000;

/** An instance that reads one published change at a time, and removes images as `erase` says. */
async function follow(published: string[], erase: () => Promise<{ files: number; bytes: number }>) {
  const clock = createManualClock();
  const changes = createChanges();
  let position = '0-0';
  const stores = {
    changes,
    sharedChanges: {
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
    pictures: { erase },
    sharedPictures: undefined,
    caches: {},
  } as unknown as Stores;
  const saved: AppliedPositions[] = [];
  const applied = { positions: () => saved.at(-1) ?? {}, save: (positions: AppliedPositions) => saved.push(positions) };
  const config = parseConfig({ SOURCES: 'youtube' });
  const runtime = createRuntime({ clock, logger: createLogger({ level: 'silent' }) });
  const invalidation = createInvalidation(config, runtime, { stores, applied });
  await invalidation.start();
  onTestFinished(() => invalidation.stop());
  return { clock, saved };
}

/** All promises that can settle now do so before this. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const NOTHING = { files: 0, bytes: 0 };

it('saves the position of a change only after its files and those of all earlier changes are removed', async () => {
  const removals = [1, 2].map(() => Promise.withResolvers<{ files: number; bytes: number }>());
  const begun = removals.values();
  const { clock, saved } = await follow(['1-0', '2-0'], async () => begun.next().value?.promise ?? NOTHING);

  await clock.passTimer(READ_MS);
  removals[1]?.resolve(NOTHING);
  await settled();
  expect(saved).toEqual([]);
  removals[0]?.resolve(NOTHING);
  await expect.poll(() => saved.at(-1)).toEqual({ redis: '2-0' });
});

it('saves positions again after a delayed removal has succeeded', async () => {
  let isFailing = true;
  const { clock, saved } = await follow(['1-0', '2-0', '3-0'], async () => {
    if (isFailing) throw new Error('the disk is read-only');
    return NOTHING;
  });
  for (let read = 0; read < 2; read += 1) await clock.passTimer(READ_MS);
  await settled();
  expect(saved).toEqual([]);
  isFailing = false;
  await clock.passTimer(RETRY_MS);
  await expect.poll(() => saved.at(-1)).toEqual({ redis: '3-0' });
});
