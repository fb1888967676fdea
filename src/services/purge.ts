import { channelKey, type EntryKind, findEntryKind, nameKey } from '../cache/keys.ts';
import { mentionsChannel } from '../cache/mentions.ts';
import type { PictureCache } from '../cache/pictures.ts';
import type { ReadThrough } from '../cache/read-through.ts';
import type { ErasableStore } from '../cache/store.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import type { FoundChannels } from '../sources/search-all.ts';
import type { ChannelEntry } from './channels.ts';
import type { Original } from './originals.ts';

/** What a purge has taken away. */
export interface Purged {
  /** In the stores. */
  readonly entries: Readonly<Partial<Record<EntryKind, number>>>;
  /** Originals and all that was made of them, on disk. */
  readonly pictures: number;
  readonly pictureBytes: number;
}

export interface PurgedChannel extends Purged {
  readonly channelId: string;
}

/**
 * Takes things out of memory and of all stores, their bytes included. Other instances keep what they hold in their own
 * memory until it is no longer fresh. Each rejects when a store or the disk does not let go of something.
 */
export interface Purge {
  /**
   * Everything kept of the first of the references that is known here: record, names, originals, pictures, and the
   * searches that found it. `undefined` where nothing is known by any of the names.
   */
  purgeChannel(refs: readonly ChannelRef[]): Promise<PurgedChannel | undefined>;
  purgeChannels(channelIds: readonly string[]): Promise<Purged>;
  purgeAll(): Promise<void>;
}

export interface PurgeOptions {
  readonly store: Pick<ErasableStore, 'eraseChannels' | 'eraseAll'>;
  readonly pictures: Pick<PictureCache, 'eraseChannels' | 'eraseAll'>;
  readonly caches: {
    readonly records: ReadThrough<ChannelEntry>;
    readonly names: ReadThrough<string>;
    readonly searches: ReadThrough<FoundChannels>;
    readonly originals: ReadThrough<Original>;
  };
}

export function createPurge({ store, pictures, caches }: PurgeOptions): Purge {
  const { records, names, searches, originals } = caches;

  function forget(channelIds: ReadonlySet<string>): void {
    const isNamed = (key: string) => mentionsChannel(key, channelIds);
    records.forget((key, entry) => {
      const isRedirect = entry !== undefined && 'movedTo' in entry && channelIds.has(entry.movedTo);
      return isRedirect || isNamed(key);
    });
    names.forget((_key, channelId) => channelId !== undefined && channelIds.has(channelId));
    searches.forget(
      (key, found) => isNamed(key) || found?.hits.some(({ channelId }) => channelIds.has(channelId)) === true,
    );
    originals.forget(isNamed);
  }

  async function purge(channelIds: ReadonlySet<string>): Promise<Purged> {
    forget(channelIds);
    const [keys, erased] = await Promise.all([store.eraseChannels(channelIds), pictures.eraseChannels(channelIds)]);
    return { entries: countKinds(keys), pictures: erased.files, pictureBytes: erased.bytes };
  }

  async function findChannelId(refs: readonly ChannelRef[]): Promise<string | undefined> {
    for (const ref of refs) {
      const channelId = ref.kind === 'id' ? ref.value : await names.find(nameKey(ref));
      if (channelId !== undefined) return channelId;
    }
    return undefined;
  }

  return {
    async purgeChannel(refs) {
      const channelId = await findChannelId(refs);
      if (channelId === undefined) return undefined;
      const entry = await records.find(channelKey(channelId));
      const movedTo = entry !== undefined && 'movedTo' in entry ? entry.movedTo : channelId;
      return { channelId: movedTo, ...(await purge(new Set([channelId, movedTo]))) };
    },

    purgeChannels: (channelIds) => purge(new Set(channelIds)),

    async purgeAll() {
      for (const cache of [records, names, searches, originals]) cache.forget(() => true);
      await Promise.all([store.eraseAll(), pictures.eraseAll()]);
    },
  };
}

function countKinds(keys: readonly string[]): Purged['entries'] {
  const counts: Partial<Record<EntryKind, number>> = {};
  for (const kind of keys.map(findEntryKind)) if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
