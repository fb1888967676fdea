import { OperatorError } from '../domain/errors.ts';
import type { Identifier } from '../domain/identifier.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Cache } from './cache.ts';
import type { ImageStore } from './image-store.ts';
import { channelKey, nameKey } from './keys.ts';
import type { Removal } from './removal.ts';
import type { Store } from './store.ts';
import type { Caches } from './values.ts';

export interface PurgedChannel {
  /** `null` if the name was not known as a channel, and only its own entry was removed. */
  readonly channelId: string | null;
  /** The number of removed values, originals and encoded images in the stores. */
  readonly entries: number;
}

interface PurgeOptions {
  readonly caches: Caches;
  readonly stores: readonly Pick<Store, 'name' | 'remove'>[];
  readonly images: Pick<ImageStore, 'forget'>;
  readonly blockedChannels: readonly string[];
  /** The ID of one of the operator's own channels, of which images may be stored. */
  readonly findOwnId: (identifier: Identifier) => Promise<string | undefined>;
  /** Forgets failures, and responses of the last second. */
  readonly forget: () => void;
  readonly runtime: Pick<Runtime, 'health' | 'logger'>;
}

export type Purge = ReturnType<typeof createPurge>;

export function createPurge({ caches, stores, images, blockedChannels, findOwnId, forget, runtime }: PurgeOptions) {
  const { health, logger } = runtime;
  let isTakenDown = blockedChannels.length === 0;

  function forgetHere(removal: Removal): void {
    for (const cache of Object.values(caches) as Cache<unknown>[]) cache.forget(removal);
    images.forget(removal);
    forget();
  }

  /** Removes as much as possible. Returns the number of removed entries. */
  async function remove(removal: Removal): Promise<number> {
    forgetHere(removal);
    const failures: string[] = [];
    let entries = 0;
    async function removeFrom(store: Pick<Store, 'name' | 'remove'>): Promise<void> {
      try {
        entries += await store.remove(removal);
      } catch (error) {
        failures.push(`entries in ${store.name} (${describeFailure(error)})`);
      }
    }
    await Promise.all(stores.map(removeFrom));
    // Look-ups may have filled the memory from the stores meanwhile.
    forgetHere(removal);
    if (failures.length > 0) throw new OperatorError(`Not removed: ${failures.join(', ')}. Try again when that works`);
    return entries;
  }

  async function findChannelId(identifiers: readonly Identifier[]): Promise<string | undefined> {
    for (const identifier of identifiers) {
      if (identifier.kind === 'id') return identifier.value;
      const named = await caches.names.getCached(nameKey(identifier));
      const found = (await findOwnId(identifier)) ?? named?.value;
      if (found) return found;
    }
    return undefined;
  }

  /** Returns the channel and, if YouTube redirects it, also its target. */
  async function withTarget(channelId: string): Promise<readonly string[]> {
    const found = (await caches.records.getCached(channelKey(channelId)))?.value;
    return found && 'movedTo' in found ? [found.movedTo, channelId] : [channelId];
  }

  return {
    /**
     * Removes everything of the first identifier that is known, and the given names: from the memory of this process, from the
     * stores, and from this instance's disk. A load that was already running may be stored again.
     *
     * @returns `undefined` if nothing was stored
     * @throws OperatorError if something may be left, and says what and why. What is in this process is removed anyway
     */
    async purgeChannel(identifiers: readonly Identifier[]): Promise<PurgedChannel | undefined> {
      const found = await findChannelId(identifiers);
      const channelIds = found === undefined ? [] : await withTarget(found);
      const entries = await remove({ channelIds, keys: identifiers.map(nameKey) });
      const [channelId = null] = channelIds;
      return channelId === null && entries === 0 ? undefined : { channelId, entries };
    },

    /** Removes everything of the blocked channels. Does nothing once that has succeeded. */
    async takeDown(): Promise<void> {
      if (isTakenDown) return;
      // One at a time.
      isTakenDown = true;
      try {
        const entries = await remove({ channelIds: blockedChannels, keys: [] });
        if (entries > 0) logger.info({ entries }, 'removed what was stored of blocked channels');
        health.report('removal', null);
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        health.report('removal', 'what is stored of blocked channels cannot be removed', error);
        isTakenDown = false;
      }
    },
  };
}
