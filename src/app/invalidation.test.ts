import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { parseConfig } from '../config/settings.ts';
import { createLogger } from '../lib/logger.ts';
import { createRuntime } from '../lib/runtime.ts';
import { type Removal, removalOf } from '../store/removal.ts';
import { createInvalidation } from './invalidation.ts';
import { openSavedRemovals } from './saved-removals.ts';
import type { Stores } from './stores.ts';

const READ_MS = 500;
const logger = createLogger({ level: 'silent' });
const [OF_FIRST, OF_SECOND] = ['UCfirst________________A', 'UCsecond_______________A'].map((id) => removalOf([id])) as [
  Removal,
  Removal,
];

async function setUp(erase: (removal: Removal) => Promise<{ files: number; bytes: number }>, settings: object = {}) {
  const clock = createManualClock();
  const dataDir = await createTemporaryDirectory();
  let position = '0-0';
  const published: [position: string, removals: Removal[]][] = [
    ['1-0', [OF_FIRST]],
    ['2-0', [OF_SECOND, { ...OF_FIRST, includesImages: false }]],
  ];
  const erased: Removal[] = [];
  const stores = {
    sharedStore: {
      // The third read finds no change.
      async receive() {
        const [next, removals] = published.shift() ?? [position, []];
        position = next;
        return removals;
      },
      position: () => position,
    },
    unfinished: new Set(),
    store: {
      async erase(removal: Removal) {
        erased.push(removal);
        return {};
      },
    },
    images: { erase },
    caches: {},
  } as unknown as Stores;
  async function start() {
    const invalidation = createInvalidation(
      parseConfig({ SOURCES: 'youtube', DATA_DIR: dataDir, ...settings }),
      createRuntime({ clock, logger }),
      { stores, saved: openSavedRemovals(dataDir, logger) },
    );
    onTestFinished(() => invalidation.stop());
    await invalidation.start();
    return invalidation;
  }
  return { clock, start, erased, state: () => openSavedRemovals(dataDir, logger).state() };
}

it('removes the images that other instances have purged, and saves the position at once', async () => {
  const erased: Removal[] = [];
  const { clock, start, state } = await setUp(async (removal) => {
    erased.push(removal);
    return { files: 0, bytes: 0 };
  });
  await start();
  for (let read = 0; read < 2; read += 1) await clock.passTimer(READ_MS);
  expect(erased).toEqual([OF_FIRST, OF_SECOND]);
  await expect.poll(state).toMatchObject({ redis: '2-0', unfinished: { store: [], images: [] } });
});

it('removes images that could not be removed before at the next start', async () => {
  let isFailing = true;
  const erased: Removal[] = [];
  const { start, state } = await setUp(async (removal) => {
    if (isFailing) throw new Error('the disk fails');
    erased.push(removal);
    return { files: 0, bytes: 0 };
  });
  const first = await start();
  await expect.poll(state).toMatchObject({ redis: '1-0', unfinished: { images: [OF_FIRST] } });
  await first.stop();
  isFailing = false;
  await start();
  await expect.poll(() => erased).toContainEqual(OF_FIRST);
  await expect.poll(state).toMatchObject({ unfinished: { images: [] } });
});

it('takes blocked channels down once', async () => {
  const [blocked] = OF_FIRST.channelIds as string[];
  const { start, erased, state } = await setUp(async () => ({ files: 0, bytes: 0 }), { BLOCKED_CHANNELS: blocked });
  for (let count = 0; count < 2; count += 1) {
    const service = await start();
    await expect
      .poll(state)
      .toMatchObject({ takenDown: expect.stringMatching(/./), unfinished: { store: [], images: [] } });
    await service.stop();
  }
  expect(erased).toEqual([OF_FIRST]);
});
