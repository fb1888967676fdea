import { beforeEach, describe, expect, test } from 'vitest';
import { memoryStore, testCache } from '../../test/helpers/cache.ts';
import { createManualClock, type ManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { handleRef } from '../../test/helpers/handle.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { channelIdRef } from '../domain/identifier.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Cache } from './cache.ts';
import { channelKey, nameKey } from './keys.ts';
import { createPurge, type Purge, PurgeFailed } from './purge.ts';
import type { Removal } from './removal.ts';
import type { RecordOrRedirect } from './values.ts';

const [MEANT, FORMER, OWN, OTHER] = [1, 2, 3, 4].map(numberedChannelId) as [string, string, string, string];
const [HANDLE, OWN_HANDLE] = [handleRef('meant'), handleRef('own')];

let clock: ManualClock;
let runtime: Runtime;
let names: Cache<string | null>;
let records: Cache<RecordOrRedirect | null>;
/** The calls to the store and the images on disk, and whether failures are forgotten. */
let done: (Removal | readonly string[] | 'forgotten')[];
/** What fails. */
let broken: { store: boolean; disk: boolean };
let purge: Purge;

function inMemory<V>(): Cache<V> {
  const policy = { freshMs: 1_000, graceMs: 1_000 };
  return testCache<V>(policy, { clock, store: { ...memoryStore(), set: async () => undefined } });
}

beforeEach(async () => {
  clock = createManualClock();
  runtime = createTestRuntime({ clock });
  [records, names] = [inMemory(), inMemory()];
  done = [];
  broken = { store: false, disk: false };
  purge = createPurge({
    caches: { records, names, searches: inMemory(), originals: inMemory() },
    stores: [
      {
        name: 'Redis',
        async remove(removal) {
          if (broken.store) throw new Error('it is away');
          done.push(removal);
          return removal.channelIds.length;
        },
      },
    ],
    images: {
      async erase(channelIds) {
        if (broken.disk) throw new Error('it is broken');
        done.push(channelIds);
        return 7;
      },
    },
    findOwnId: async (ref) => (ref.key === OWN_HANDLE.key ? OWN : undefined),
    forget: () => done.push('forgotten'),
    runtime,
  });
  records.put(channelKey(MEANT), { value: { channel: { channelId: MEANT } } as RecordOrRedirect });
  records.put(channelKey(FORMER), { value: { movedTo: MEANT } });
  records.put(channelKey(OTHER), { value: { channel: { channelId: OTHER } } as RecordOrRedirect });
  names.put(nameKey(HANDLE), { value: MEANT });
});

const countInMemory = () => (records.stats().memory.entries ?? 0) + (names.stats().memory.entries ?? 0);
describe('a purge', () => {
  test.each([
    ['its ID', [channelIdRef(MEANT)], [MEANT]],
    ['its handle', [HANDLE], [MEANT]],
    ['the handle of an own channel', [OWN_HANDLE], [OWN]],
    ['the first known name', [handleRef('nobody'), HANDLE], [MEANT]],
    ['its former ID', [channelIdRef(FORMER)], [MEANT, FORMER]],
  ])('by %s removes what is stored of the channel, and nothing of another one', async (_what, refs, channelIds) => {
    const removed = { channelId: channelIds[0], entries: channelIds.length, images: 7 };
    expect(await purge.purgeChannel(refs)).toEqual(removed);
    expect(await records.getCached(channelKey(OTHER))).toBeDefined();
    for (const channelId of channelIds) expect(await records.getCached(channelKey(channelId))).toBeUndefined();
    expect(done).toEqual(['forgotten', { channelIds, keys: refs.map(nameKey) }, channelIds, 'forgotten']);
  });

  test('says what it could not remove, and empties memory', async () => {
    broken = { store: true, disk: true };
    const purging = purge.purgeChannel([HANDLE]);
    await expect(purging).rejects.toBeInstanceOf(PurgeFailed);
    await expect(purging).rejects.toThrow(
      'Not removed: entries in Redis (it is away), images on the disk of this instance (it is broken). Try again',
    );
    expect([countInMemory(), done]).toEqual([1, ['forgotten', 'forgotten']]);
  });
});

test('a take-down that fails is a condition, and is tried again after a minute', async () => {
  broken.store = true;
  await purge.takeDown([MEANT]);
  expect(done).toContainEqual([MEANT]);
  expect(runtime.health.problems().map(([name]) => name)).toEqual(['removal']);
  broken.store = false;
  clock.advance(60_000);
  await expect.poll(() => runtime.health.problems()).toEqual([]);
  expect(done).toContainEqual({ channelIds: [MEANT], keys: [] });
});
