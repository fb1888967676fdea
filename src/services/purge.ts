import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { ImageStore } from '../image-store/image-store.ts';
import type { Epochs } from '../lib/epoch.ts';
import { describeFailure } from '../lib/logger.ts';
import { either, fields, parseJson } from '../lib/shape.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import { channelKey, nameKey } from '../store/keys.ts';
import { type ErasedEntries, keysOf, type Removal } from '../store/removal.ts';
import type { BackingStore, Erasure } from '../store/store.ts';
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
  readonly images: Pick<ImageStore, 'erase'>;
  /** The operator's own channels, of which images may be stored. */
  readonly catalog?: Pick<Catalog, 'find'> | undefined;
  readonly epochs: Pick<Epochs, 'moveTo'>;
}

/**
 * Removes data from the store, from memory and from this instance's disk, in this order. The store raises the number of the
 * epoch, so that work that began before stores no results, here and on other instances.
 *
 * Every method resolves when nothing is left here and in the store, or rejects with `PurgeFailed`. Nothing is tried again.
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

export function createPurge({ caches, store, images, catalog, epochs }: PurgeOptions): Purge {
  const { records, names, searches, originals } = caches;
  const storeName = store.isShared === true ? 'Redis' : 'cache.db';

  /** @param andWhat what else was not removed */
  function storeFailed(error: unknown, andWhat: string): PurgeFailed {
    return new PurgeFailed(
      `${storeName} cannot be used (${describeFailure(error)}). Not removed: its entries${andWhat}. Try again when ${storeName} works`,
    );
  }

  /** Work that began before stores nothing from here on. */
  async function eraseEntries(erase: () => Promise<Erasure>): Promise<ErasedEntries> {
    const { erased, epoch } = await erase();
    epochs.moveTo(epoch);
    return erased;
  }

  async function eraseImages(
    channelIds: readonly string[],
    raises: 'always' | 'if-erased' = 'always',
  ): Promise<Pick<Purged, 'images' | 'imageBytes'>> {
    try {
      const erased = await images.erase(channelIds, raises);
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

  /** In an outage of Redis, memory is the only cache: other channels stay in it. */
  function forget(removal: Removal): void {
    const ids = new Set(removal.channelIds);
    const keys = new Set(keysOf(removal));
    records.removeFromMemory(
      (key, entry) => keys.has(key) || (entry !== undefined && 'movedTo' in entry && ids.has(entry.movedTo)),
    );
    names.removeFromMemory((key, channelId = '') => keys.has(key) || ids.has(channelId));
    originals.removeFromMemory((key) => keys.has(key));
    searches.removeFromMemory((_, found) => found?.hits.some(({ channelId }) => ids.has(channelId)) === true);
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
        entries = await eraseEntries(() => store.erase({ channelIds, names: givenNames }, 'purge'));
      } catch (error) {
        forget({ channelIds, names: givenNames });
        throw storeFailed(error, `, and the images on this instance's disk`);
      }
      const purged = { entries, ...(await eraseImages(channelIds)) };
      const [channelId = null] = channelIds;
      const { search: _, ...others } = entries;
      const isNothing = channelId === null && Object.keys(others).length === 0;
      return isNothing ? undefined : { channelId, ...purged };
    },

    async takeDown(channelIds) {
      const [entries, erasedImages] = await Promise.allSettled([
        eraseEntries(() => store.erase({ channelIds, names: [] }, 'take-down')),
        eraseImages(channelIds, 'if-erased'),
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
