import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { handleRef } from '../../test/helpers/handle.ts';
import { testCache } from '../../test/helpers/read-through.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { channelIdRef, nameOf } from '../domain/identifier.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { SearchPage } from '../sources/source.ts';
import { channelKey, nameKey, originalKey, searchKey } from '../store/keys.ts';
import type { ReadThrough } from '../store/read-through.ts';
import type { Removal } from '../store/removal.ts';
import type { Store } from '../store/store.ts';
import type { ChannelEntry, Original } from './cache-policy.ts';
import { createPurge, type Purge, PurgeFailed } from './purge.ts';

const [MEANT, OTHER, FORMER] = [1, 2, 3].map(numberedChannelId) as [string, string, string];
const [HANDLE, OTHER_HANDLE] = [handleRef('meant'), handleRef('other')];
/** Only the store knows it, because a read was too slow for the cache in front. */
const STORED_HANDLE = handleRef('stored');

/** The stores are empty, so everything found is in memory. */
function inMemory<V>(): ReadThrough<V> {
  const store: Store = { get: async () => undefined, set: async () => undefined, close: async () => undefined };
  const policy = { isValue: (_value: unknown): _value is V => true, freshMs: 1_000, graceMs: 1_000 };
  return testCache<V>(policy, { clock: createManualClock(), store, epochs: runtime.epochs });
}

let caches: {
  records: ReadThrough<ChannelEntry>;
  names: ReadThrough<string>;
  searches: ReadThrough<SearchPage>;
  originals: ReadThrough<Original>;
};
let runtime: Runtime;
/** The calls to the store and the images on disk. */
let erased: (Removal | readonly string[])[];
/** What fails. */
let broken: { reads: boolean; erasures: boolean; disk: boolean };
let purge: Purge;

function failIf(isBroken: boolean): void {
  if (isBroken) throw new Error('it is broken');
}

beforeEach(async () => {
  runtime = createTestRuntime();
  caches = {
    records: inMemory(),
    names: inMemory(),
    searches: inMemory(),
    originals: inMemory(),
  };
  erased = [];
  broken = { reads: false, erasures: false, disk: false };
  purge = createPurge({
    caches,
    epochs: runtime.epochs,
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
        erased.push(removal);
        return { erased: removal.channelIds.length > 0 ? { channel: 1, original: 2 } : {}, epoch: 'next' };
      },
    },
    images: {
      async erase(channelIds) {
        failIf(broken.disk);
        erased.push(channelIds);
        return { images: 7, bytes: 77 };
      },
    },
  });
  const { records, names, searches, originals } = caches;
  for (const [channelId, handle] of [[MEANT, HANDLE] as const, [OTHER, OTHER_HANDLE] as const]) {
    await records.put(channelKey(channelId), async () => ({ value: { channel: { channelId } } as ChannelEntry }));
    await names.put(nameKey(handle), async () => ({ value: channelId }));
    await searches.put(searchKey(handle.value), async () => ({ value: found(channelId) }));
    for (const kind of ['avatar', 'banner'] as const) {
      await originals.put(originalKey(channelId, kind), async () => ({ value: { digest: channelId } as Original }));
    }
  }
  await records.put(channelKey(FORMER), async () => ({ value: { movedTo: MEANT } }));
});

function found(channelId: string): SearchPage {
  return { hits: [{ channelId }] } as unknown as SearchPage;
}

/** The entries that remain of those stored. */
async function left(): Promise<string[]> {
  const { records, names, searches, originals } = caches;
  const looks: [string, Promise<unknown>][] = [
    ['former', records.find(channelKey(FORMER))],
    ...[
      { who: 'meant', channelId: MEANT, handle: HANDLE },
      { who: 'other', channelId: OTHER, handle: OTHER_HANDLE },
    ].flatMap(({ who, channelId, handle }): [string, Promise<unknown>][] => [
      [`${who} record`, records.find(channelKey(channelId))],
      [`${who} name`, names.find(nameKey(handle))],
      [`${who} search`, searches.find(searchKey(handle.value))],
      [`${who} avatar`, originals.find(originalKey(channelId, 'avatar'))],
      [`${who} banner`, originals.find(originalKey(channelId, 'banner'))],
    ]),
  ];
  const values = await Promise.all(looks.map(async ([name, look]) => ((await look) === undefined ? [] : [name])));
  return values.flat();
}

const OTHERS = ['other record', 'other name', 'other search', 'other avatar', 'other banner'];
const PURGED = { channelId: MEANT, entries: { channel: 1, original: 2 }, images: 7, imageBytes: 77 };

describe('a purge of one channel', () => {
  it.each([
    ['its ID', [channelIdRef(MEANT)], [MEANT]],
    ['its handle', [HANDLE], [MEANT]],
    ['a handle that only the store knows', [STORED_HANDLE], [MEANT]],
    ['the first known name', [handleRef('nobody'), HANDLE], [MEANT]],
    ['its former ID', [channelIdRef(FORMER)], [MEANT, FORMER]],
  ])('by %s removes what is stored of it, and empties memory', async (_what, refs, channelIds) => {
    expect(await purge.purgeChannel(refs)).toEqual(PURGED);
    expect([runtime.epochs.current().id, await left()]).toEqual(['next', []]);
    expect(erased).toEqual([{ channelIds, names: refs.map(nameOf) }, channelIds]);
  });

  it('by an unknown name removes the entries of the name', async () => {
    expect(await purge.purgeChannel([handleRef('nobody')])).toBeUndefined();
    expect(erased[0]).toEqual({ channelIds: [], names: ['handle:nobody'] });
  });

  it.each([
    ['its ID', channelIdRef(MEANT)],
    ['its handle', HANDLE],
  ])('by %s fails while the store cannot be changed, and only this channel leaves memory', async (_what, ref) => {
    broken.erasures = true;
    const purging = purge.purgeChannel([ref]);
    await expect(purging).rejects.toBeInstanceOf(PurgeFailed);
    await expect(purging).rejects.toThrow(
      /^Redis cannot be used \(it is broken\)\. Not removed: its entries, and the images.*\. Try again when Redis works$/,
    );
    expect([runtime.epochs.current().id, await left(), erased]).toEqual(['', OTHERS, []]);
  });

  it('by its ID leaves nothing of the channel in memory while the store cannot be read', async () => {
    broken.reads = true;
    caches.records.removeFromMemory((key) => key === channelKey(MEANT));
    await expect(purge.purgeChannel([channelIdRef(MEANT)])).rejects.toBeInstanceOf(PurgeFailed);
    expect([await left(), erased]).toEqual([OTHERS, []]);
  });

  it('by a name fails while the store cannot be read, because nothing of the channel would be removed', async () => {
    broken.reads = true;
    await expect(purge.purgeChannel([handleRef('nobody')])).rejects.toBeInstanceOf(PurgeFailed);
    expect([erased, (await left()).length]).toEqual([[], 11]);
  });

  it('fails if images stay on the disk, and says so', async () => {
    broken.disk = true;
    await expect(purge.purgeChannel([HANDLE])).rejects.toThrow(
      /Images on this instance's disk cannot be removed.*Removed: the entries in Redis and in memory/,
    );
    expect(await left()).toEqual([]);
  });
});

describe('a take-down', () => {
  it('removes images from the disk even if the store fails', async () => {
    broken.erasures = true;
    const failure = await purge.takeDown([MEANT]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PurgeFailed);
    // As its condition shows it: the reason once.
    expect(describeFailure(failure).match(/it is broken/g)).toHaveLength(1);
    expect(erased).toEqual([[MEANT]]);
    broken.erasures = false;
    expect(await purge.takeDown([MEANT])).toMatchObject({ entries: { channel: 1 }, images: 7 });
  });
});
