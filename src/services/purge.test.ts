import { beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { type ChannelRef, channelIdRef, findHandle } from '../domain/identifier.ts';
import type { FoundChannels } from '../sources/search-all.ts';
import { type Change, type Changes, createChanges, EVERYTHING } from '../store/changes.ts';
import { channelKey, nameKey, originalKey, searchKey } from '../store/keys.ts';
import { createReadThrough, type ReadThrough, type ReadThroughOptions } from '../store/read-through.ts';
import { CACHE_POLICY, type ChannelEntry, type Original } from './cache-policy.ts';
import { createPurge, type Purge } from './purge.ts';

const [MEANT, OTHER, FORMER] = [1, 2, 3].map(numberedChannelId) as [string, string, string];
const [HANDLE, OTHER_HANDLE] = [handleRef('meant'), handleRef('other')];

function handleRef(name: string): ChannelRef {
  return findHandle(name) ?? expect.fail(`${name} is no handle`);
}

/** The stores are empty, so everything found is in memory. */
function inMemory<V>({
  channelIdsOf,
  storeKeyOf,
}: Pick<ReadThroughOptions<V>, 'channelIdsOf' | 'storeKeyOf'>): ReadThrough<V> {
  return createReadThrough<V>({
    store: {
      get: async () => undefined,
      set: async () => undefined,
      close: async () => undefined,
    },
    isValue: (_value): _value is V => true,
    channelIdsOf,
    ...(storeKeyOf !== undefined && { storeKeyOf }),
    changes,
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
let changes: Changes;
/** The calls to the stores and the images on disk. */
let erased: Change[];
let purge: Purge;

beforeEach(async () => {
  changes = createChanges();
  caches = {
    records: inMemory(CACHE_POLICY.records),
    names: inMemory(CACHE_POLICY.names),
    searches: inMemory(CACHE_POLICY.searches),
    originals: inMemory(CACHE_POLICY.originals),
  };
  erased = [];
  purge = createPurge(
    {
      changes,
      caches,
      store: {
        async erase(change) {
          erased.push(change);
          return [channelKey(MEANT), originalKey(MEANT, 'avatar'), originalKey(MEANT, 'banner')];
        },
      },
      images: {
        async erase(change) {
          erased.push(change);
          return { files: 7, bytes: 77 };
        },
      },
      sharedChanges: undefined,
    },
    createTestRuntime(),
  );
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

const OTHERS = ['other record', 'other name', 'other search', 'other avatar', 'other banner'];

describe('a purge of one channel', () => {
  it.each([
    ['its ID', [channelIdRef(MEANT)]],
    ['its handle', [HANDLE]],
    ['the first known name', [handleRef('nobody'), HANDLE]],
    ['its former ID', [channelIdRef(FORMER)]],
  ])('by %s removes everything of it and nothing else', async (_what, refs) => {
    expect(await purge.purgeChannel(refs)).toEqual({
      channelId: MEANT,
      entries: { channel: 1, original: 2 },
      images: 7,
      imageBytes: 77,
    });
    expect(await left()).toEqual(OTHERS);
    expect(erased).toHaveLength(2);
    for (const { channelIds, includesImages } of erased) {
      expect([[...channelIds].includes(MEANT), [...channelIds].includes(OTHER), includesImages]).toEqual([
        ...[true, false, true],
      ]);
    }
  });

  it('by an unknown name removes the entries of the name, and searches without hits', async () => {
    await purge.purgeChannel([handleRef('nobody')]);
    for (const change of erased) {
      expect(change).toMatchObject({ channelIds: new Set(), names: new Set(['handle:nobody']), searches: 'empty' });
    }
    expect(await left()).toHaveLength(11);
  });
});

describe('a purge of everything', () => {
  it('leaves nothing in memory, in the stores and on disk', async () => {
    await purge.purgeAll();
    expect(await left()).toEqual([]);
    expect(erased).toEqual([EVERYTHING, EVERYTHING]);
  });
});
