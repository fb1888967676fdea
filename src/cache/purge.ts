import type { Identifier } from '../domain/identifier.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Cache } from './cache.ts';
import type { ImageStore } from './image-store.ts';
import { channelKey, nameKey } from './keys.ts';
import type { Removal } from './removal.ts';
import type { Store } from './store.ts';
import type { Caches } from './values.ts';

/** The numbers of removed entries, and of removed originals and encoded images on this instance's disk. */
interface Removed {
  readonly entries: number;
  readonly images: number;
}

export interface PurgedChannel extends Removed {
  /** `null` if the name was not known as a channel, and only its own entry was removed. */
  readonly channelId: string | null;
}

/** The message, for the operator, says what was not removed, why, and what to do. */
export class PurgeFailed extends Error {
  override name = 'PurgeFailed';
}

interface PurgeOptions {
  readonly caches: Caches;
  readonly stores: readonly Pick<Store, 'name' | 'remove'>[];
  readonly images: Pick<ImageStore, 'erase'>;
  /** The ID of one of the operator's own channels, of which images may be stored. */
  readonly findOwnId: (identifier: Identifier) => Promise<string | undefined>;
  /** Forgets failures, and responses of the last second. */
  readonly forget: () => void;
  readonly runtime: Pick<Runtime, 'clock' | 'health' | 'logger'>;
}

export interface Purge {
  /**
   * Removes everything of the first identifier that is known, and the given names: from the memory of this process, from the
   * stores, and from this instance's disk. A load that was already running may be stored again.
   *
   * @returns `undefined` if nothing was stored
   * @throws PurgeFailed if something may be left. What is in this process is removed anyway
   */
  purgeChannel(identifiers: readonly Identifier[]): Promise<PurgedChannel | undefined>;
  /** Removes everything of blocked channels, again every minute until it has succeeded. */
  takeDown(channelIds: readonly string[]): Promise<void>;
  /** Tries no more. */
  stop(): void;
}

const TAKE_DOWN_RETRY_MS = 60_000;

export function createPurge({ caches, stores, images, findOwnId, forget, runtime }: PurgeOptions): Purge {
  const { clock, health, logger } = runtime;
  let cancelRetry: () => void = () => undefined;
  let isStopped = false;

  function forgetHere(removal: Removal): void {
    for (const cache of Object.values(caches) as Cache<unknown>[]) cache.forget(removal);
    forget();
  }

  /** Removes as much as possible. */
  async function remove(removal: Removal): Promise<Removed> {
    forgetHere(removal);
    const parts = [
      ...stores.map((store) => ({ what: `entries in ${store.name}`, removing: store.remove(removal) })),
      { what: 'images on the disk of this instance', removing: images.erase(removal.channelIds) },
    ];
    const results = await Promise.allSettled(parts.map(({ removing }) => removing));
    // Again, because look-ups have filled the memory from the stores meanwhile.
    forgetHere(removal);
    const failures = results.flatMap((result, index) =>
      result.status === 'rejected' ? [`${parts[index]?.what} (${describeFailure(result.reason)})`] : [],
    );
    if (failures.length > 0) throw new PurgeFailed(`Not removed: ${failures.join(', ')}. Try again when that works`);
    const counts = results.map((result) => (result.status === 'fulfilled' ? result.value : 0));
    return { images: counts.pop() ?? 0, entries: counts.reduce((total, count) => total + count, 0) };
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

  async function takeDown(channelIds: readonly string[]): Promise<void> {
    try {
      const removed = await remove({ channelIds, keys: [] });
      if (removed.entries + removed.images > 0) logger.info(removed, 'removed what was stored of blocked channels');
      health.report('removal', null);
    } catch (error) {
      if (!(error instanceof PurgeFailed)) throw error;
      health.report('removal', 'what is stored of blocked channels cannot be removed', error);
      if (!isStopped) cancelRetry = clock.after(TAKE_DOWN_RETRY_MS, () => void takeDown(channelIds));
    }
  }

  return {
    async purgeChannel(identifiers) {
      const found = await findChannelId(identifiers);
      const channelIds = found === undefined ? [] : await withTarget(found);
      const removed = await remove({ channelIds, keys: identifiers.map(nameKey) });
      const [channelId = null] = channelIds;
      return channelId === null && removed.entries === 0 ? undefined : { channelId, ...removed };
    },

    takeDown,

    stop() {
      isStopped = true;
      cancelRetry();
    },
  };
}
