import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { handleRef } from '../../test/helpers/handle.ts';
import { testCache } from '../../test/helpers/read-through.ts';
import { channelIdRef, nameOf } from '../domain/identifier.ts';
import { describeFailure } from '../lib/logger.ts';
import { channelKey, nameKey } from '../store/keys.ts';
import type { ReadThrough } from '../store/read-through.ts';
import type { Removal } from '../store/removal.ts';
import type { Store } from '../store/store.ts';
import type { ChannelEntry } from './cache-policy.ts';
import { createPurge, type Purge, PurgeFailed } from './purge.ts';

const [MEANT, OTHER, FORMER] = [1, 2, 3].map(numberedChannelId) as [string, string, string];
const HANDLE = handleRef('meant');
/** Only the store knows it, because a read was too slow for the cache in front. */
const STORED_HANDLE = handleRef('stored');

/** The store is empty, so everything found is in memory. */
function inMemory<V>(): ReadThrough<V> {
  const find = async () => undefined;
  const store: Store = { get: find, read: find, set: find, close: find };
  const policy = { isValue: (_value: unknown): _value is V => true, freshMs: 1_000, graceMs: 1_000 };
  return testCache<V>(policy, { clock: createManualClock(), store });
}

let records: ReadThrough<ChannelEntry>;
let names: ReadThrough<string>;
/** The calls to the store and the images on disk, and whether failures are forgotten. */
let done: (Removal | readonly string[] | 'forgotten')[];
/** What fails. */
let broken: { reads: boolean; erasures: boolean; disk: boolean };
let purge: Purge;

function failIf(isBroken: boolean): void {
  if (isBroken) throw new Error('it is broken');
}

beforeEach(async () => {
  [records, names] = [inMemory(), inMemory()];
  done = [];
  broken = { reads: false, erasures: false, disk: false };
  purge = createPurge({
    caches: { records, names, searches: inMemory(), originals: inMemory() },
    store: {
      isShared: true,
      async get(key) {
        failIf(broken.reads);
        return key === nameKey(STORED_HANDLE)
          ? { value: `{"value":"${MEANT}","freshMs":1}`, storedAtMs: 0 }
          : undefined;
      },
      async erase(removal) {
        failIf(broken.erasures);
        done.push(removal);
        return removal.channelIds.length > 0 ? { channel: 1, original: 2 } : {};
      },
    },
    images: {
      async erase(channelIds) {
        failIf(broken.disk);
        done.push(channelIds);
        return { images: 7, bytes: 77 };
      },
    },
    forget: () => done.push('forgotten'),
  });
  await records.put(channelKey(MEANT), async () => ({ value: { channel: { channelId: MEANT } } as ChannelEntry }));
  await records.put(channelKey(OTHER), async () => ({ value: { channel: { channelId: OTHER } } as ChannelEntry }));
  await records.put(channelKey(FORMER), async () => ({ value: { movedTo: MEANT } }));
  await names.put(nameKey(HANDLE), async () => ({ value: MEANT }));
});

const countInMemory = () => records.stats().memory.entries + names.stats().memory.entries;
const PURGED = { channelId: MEANT, entries: { channel: 1, original: 2 }, images: 7, imageBytes: 77 };

describe('a purge of one channel', () => {
  it.each([
    ['its ID', [channelIdRef(MEANT)], [MEANT]],
    ['its handle', [HANDLE], [MEANT]],
    ['a handle that only the store knows', [STORED_HANDLE], [MEANT]],
    ['the first known name', [handleRef('nobody'), HANDLE], [MEANT]],
    ['its former ID', [channelIdRef(FORMER)], [MEANT, FORMER]],
  ])('by %s removes what is stored of it, and forgets what this process remembers', async (_what, refs, channelIds) => {
    expect(await purge.purgeChannel(refs)).toEqual(PURGED);
    expect([countInMemory(), done]).toEqual([0, [{ channelIds, names: refs.map(nameOf) }, 'forgotten', channelIds]]);
  });

  it('by an unknown name removes the entries of the name', async () => {
    expect(await purge.purgeChannel([handleRef('nobody')])).toBeUndefined();
    expect(done[0]).toEqual({ channelIds: [], names: ['handle:nobody'] });
  });

  it.each(['reads', 'erasures'] as const)('fails while %s of the store fail, and removes nothing', async (what) => {
    broken[what] = true;
    const purging = purge.purgeChannel([handleRef('nobody')]);
    await expect(purging).rejects.toBeInstanceOf(PurgeFailed);
    await expect(purging).rejects.toThrow(
      /^Redis cannot be used \(it is broken\)\. Not removed: its entries, and the images.*\. Try again when Redis works$/,
    );
    expect([countInMemory(), done]).toEqual([4, []]);
  });

  it('fails if images stay on the disk, and says so', async () => {
    broken.disk = true;
    await expect(purge.purgeChannel([HANDLE])).rejects.toThrow(
      /Images on this instance's disk cannot be removed.*Removed: the entries in Redis and in memory/,
    );
    expect(countInMemory()).toBe(0);
  });
});

describe('a take-down', () => {
  it('removes images from the disk even if the store fails', async () => {
    broken.erasures = true;
    const failure = await purge.takeDown([MEANT]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PurgeFailed);
    // As its condition shows it: the reason once.
    expect(describeFailure(failure).match(/it is broken/g)).toHaveLength(1);
    expect(done).toEqual([[MEANT]]);
    broken.erasures = false;
    expect(await purge.takeDown([MEANT])).toMatchObject({ entries: { channel: 1 }, images: 7 });
  });
});
