import type { Images } from '../cache/images.ts';
import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import { describeFailure } from '../lib/logger.ts';
import { either, fields, parseJson } from '../lib/shape.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import { channelKey, nameKey } from '../store/keys.ts';
import type { ErasedEntries } from '../store/removal.ts';
import type { BackingStore } from '../store/store.ts';
import { type Caches, CHANNEL_ID } from './cache-policy.ts';

/** What a purge has removed. */
export interface Purged {
  readonly entries: ErasedEntries;
  /** Removed originals and encoded images on this instance's disk. */
  readonly images: number;
  readonly imageBytes: number;
}

export interface PurgedChannel extends Purged {
  /** `null` if the name was not known as a channel, and only entries of the name were removed. */
  readonly channelId: string | null;
}

/** The message, for the operator, says why, what was not removed and what to do. */
export class PurgeFailed extends Error {
  override name = 'PurgeFailed';
}

interface PurgeOptions {
  readonly caches: Caches;
  readonly store: Pick<BackingStore, 'isShared' | 'get' | 'erase'>;
  readonly images: Pick<Images, 'erase'>;
  /** The operator's own channels, of which images may be stored. */
  readonly catalog?: Pick<Catalog, 'find'> | undefined;
  /** Forgets failures, and responses of the last second. */
  readonly forget: () => void;
}

/**
 * Removes data from the store and from this instance's disk, and empties the memory of this process. What was being loaded
 * before may be stored again: it is seconds old.
 *
 * Every method resolves when everything is removed, or rejects with `PurgeFailed`. Nothing is tried again.
 */
export interface Purge {
  /**
   * Removes everything about the first reference that is known, and the entries of the given names. Returns `undefined` if
   * nothing was stored.
   */
  purgeChannel(refs: readonly ChannelRef[]): Promise<PurgedChannel | undefined>;
  /** Removes everything about blocked channels, and their images from the disk even if the store fails. */
  takeDown(channelIds: readonly string[]): Promise<Purged>;
}

export function createPurge({ caches, store, images, catalog, forget }: PurgeOptions): Purge {
  const { records, names } = caches;
  const storeName = store.isShared === true ? 'Redis' : 'cache.db';

  /** @param andWhat what else was not removed */
  function storeFailed(error: unknown, andWhat: string): PurgeFailed {
    return new PurgeFailed(
      `${storeName} cannot be used (${describeFailure(error)}). Not removed: its entries${andWhat}. Try again when ${storeName} works`,
    );
  }

  async function eraseImages(channelIds: readonly string[]): Promise<Pick<Purged, 'images' | 'imageBytes'>> {
    try {
      const erased = await images.erase(channelIds);
      return { images: erased.images, imageBytes: erased.bytes };
    } catch (error) {
      throw new PurgeFailed(
        `Images on this instance's disk cannot be removed (${describeFailure(error)}). Not removed: some of them. ` +
          `Removed: the entries in ${storeName} and in memory. Try again when the disk works`,
      );
    }
  }

  /** Rejects if the store cannot be read: the channel would not be found, and nothing of it removed. */
  async function findChannelId(refs: readonly ChannelRef[]): Promise<string | undefined> {
    for (const ref of refs) {
      if (ref.kind === 'id') return ref.value;
      const key = nameKey(ref);
      // While the catalog cannot be read, images of its channels are found by their ID only.
      const own = await catalog?.find(ref).catch(() => undefined);
      const channelId = own?.channelId ?? (await names.find(key)) ?? targetIn((await store.get(key))?.value);
      if (channelId !== undefined) return channelId;
    }
    return undefined;
  }

  /** The channel that it redirects to, and the channel itself. */
  async function withTarget(channelId: string): Promise<readonly string[]> {
    const key = channelKey(channelId);
    const entry = await records.find(key);
    if (entry !== undefined) return 'movedTo' in entry ? [entry.movedTo, channelId] : [channelId];
    const target = targetIn((await store.get(key))?.value);
    return target === undefined ? [channelId] : [target, channelId];
  }

  return {
    async purgeChannel(refs) {
      const givenNames = refs.map(nameOf);
      let channelIds: readonly string[] = [];
      let entries: ErasedEntries;
      try {
        const found = await findChannelId(refs);
        if (found !== undefined) {
          channelIds = [found];
          channelIds = await withTarget(found);
        }
        entries = await store.erase({ channelIds, names: givenNames });
      } catch (error) {
        throw storeFailed(error, `, and the images on this instance's disk`);
      }
      // After the store, from which a lookup would fill it again.
      for (const cache of Object.values(caches) as Caches[keyof Caches][]) cache.clearMemory();
      forget();
      const purged = { entries, ...(await eraseImages(channelIds)) };
      const [channelId = null] = channelIds;
      const isNothing = channelId === null && Object.keys(entries).length === 0;
      return isNothing ? undefined : { channelId, ...purged };
    },

    async takeDown(channelIds) {
      const [entries, erasedImages] = await Promise.allSettled([
        store.erase({ channelIds, names: [] }),
        eraseImages(channelIds),
      ]);
      const areImagesLeft = erasedImages.status === 'rejected';
      if (entries.status === 'rejected')
        throw storeFailed(entries.reason, areImagesLeft ? `, and images on this instance's disk` : '');
      if (areImagesLeft) throw erasedImages.reason;
      return { entries: entries.value, ...erasedImages.value };
    },
  };
}

const STORED_TARGET = fields({ value: either(CHANNEL_ID, fields({ movedTo: CHANNEL_ID })) });

/** The channel that a stored name or redirect leads to. */
function targetIn(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : parseJson(text, STORED_TARGET)?.value;
  return typeof value === 'object' ? value.movedTo : value;
}
