import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { type ChannelRef, channelIdRef, findHandle, nameOf } from '../domain/identifier.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { FoundChannels } from '../sources/search-all.ts';
import { nameKey, originalKey, searchKey } from '../store/keys.ts';
import { createReadThrough, type ReadThrough } from '../store/read-through.ts';
import { EVERYTHING, type Removal } from '../store/removal.ts';
import { CACHE_POLICY, type ChannelEntry, type Original } from './cache-policy.ts';
import { createPurge, type Purge } from './purge.ts';

const [MEANT, OTHER, FORMER] = [1, 2, 3].map(numberedChannelId) as [string, string, string];
const [HANDLE, OTHER_HANDLE] = [handleRef('meant'), handleRef('other')];

function handleRef(name: string): ChannelRef {
  return findHandle(name) ?? expect.fail(`${name} is no handle`);
}

/** The stores are empty, so everything found is in memory. */
function inMemory<V>(storeKeyOf?: (key: string) => string): ReadThrough<V> {
  return createReadThrough<V>({
    store: {
      get: async () => undefined,
      set: async () => undefined,
      close: async () => undefined,
    },
    isValue: (_value): _value is V => true,
    ...(storeKeyOf !== undefined && { storeKeyOf }),
    epochs: runtime.epochs,
    clock: createManualClock(),
    freshMs: 1_000,
    staleMs: 1_000,
    maxMemoryBytes: 1_000_000,
  });
}

let caches: {
  records: ReadThrough<ChannelEntry>;
  names: ReadThrough<string>;
  searches: ReadThrough<FoundChannels>;
  originals: ReadThrough<Original>;
};
let runtime: Runtime;
/** The calls to the stores and the images on disk. */
let erased: Removal[];
let purge: Purge;

beforeEach(async () => {
  runtime = createTestRuntime();
  caches = {
    records: inMemory(CACHE_POLICY.records.storeKeyOf),
    names: inMemory(),
    searches: inMemory(),
    originals: inMemory(),
  };
  erased = [];
  purge = createPurge({
    stores: {
      caches,
      unfinished: new Set(),
      store: {
        async erase(removal) {
          erased.push(removal);
          return { channel: 1, original: 2 };
        },
      },
      images: {
        async erase(removal) {
          erased.push(removal);
          return { files: 7, bytes: 77 };
        },
      },
    },
    runtime,
  });
  const { records, names, searches, originals } = caches;
  for (const [channelId, handle] of [[MEANT, HANDLE] as const, [OTHER, OTHER_HANDLE] as const]) {
    await records.put(channelId, async () => ({ value: { channel: { channelId } } as ChannelEntry }));
    await names.put(nameKey(handle), async () => ({ value: channelId }));
    await searches.put(searchKey(handle.value), async () => ({ value: found(channelId) }));
    for (const kind of ['avatar', 'banner'] as const) {
      await originals.put(originalKey(channelId, kind), async () => ({ value: { digest: channelId } as Original }));
    }
  }
  await records.put(FORMER, async () => ({ value: { movedTo: MEANT } }));
});

function found(channelId: string): FoundChannels {
  return { hits: [{ channelId }], next: {} } as unknown as FoundChannels;
}

/** The entries that remain of those stored. */
async function left(): Promise<string[]> {
  const { records, names, searches, originals } = caches;
  const looks: [string, Promise<unknown>][] = [
    ['former', records.find(FORMER)],
    ...[
      { who: 'meant', channelId: MEANT, handle: HANDLE },
      { who: 'other', channelId: OTHER, handle: OTHER_HANDLE },
    ].flatMap(({ who, channelId, handle }): [string, Promise<unknown>][] => [
      [`${who} record`, records.find(channelId)],
      [`${who} name`, names.find(nameKey(handle))],
      [`${who} search`, searches.find(searchKey(handle.value))],
      [`${who} avatar`, originals.find(originalKey(channelId, 'avatar'))],
      [`${who} banner`, originals.find(originalKey(channelId, 'banner'))],
    ]),
  ];
  const values = await Promise.all(looks.map(async ([name, look]) => ((await look) === undefined ? [] : [name])));
  return values.flat();
}

describe('a purge of one channel', () => {
  it.each([
    ['its ID', [channelIdRef(MEANT)], [MEANT]],
    ['its handle', [HANDLE], [MEANT]],
    ['the first known name', [handleRef('nobody'), HANDLE], [MEANT]],
    ['its former ID', [channelIdRef(FORMER)], [MEANT, FORMER]],
  ])('by %s removes what is stored of it, and empties memory', async (_what, refs, channelIds) => {
    expect(await purge.purgeChannel(refs)).toEqual({
      channelId: MEANT,
      entries: { channel: 1, original: 2 },
      images: 7,
      imageBytes: 77,
    });
    expect(await left()).toEqual([]);
    const removal = { channelIds, names: refs.map(nameOf), includesImages: true };
    expect(erased).toEqual([removal, removal]);
  });

  it('by an unknown name removes the entries of the name', async () => {
    await purge.purgeChannel([handleRef('nobody')]);
    const removal = { channelIds: [], names: ['handle:nobody'], includesImages: true };
    expect(erased).toEqual([removal, removal]);
  });
});

describe('a purge of everything', () => {
  it('leaves nothing in memory, in the stores and on disk', async () => {
    await purge.purgeAll();
    expect(await left()).toEqual([]);
    expect(erased).toEqual([EVERYTHING, EVERYTHING]);
  });
});
