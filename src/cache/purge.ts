import { AppError, valueOrError } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { IMAGE_KINDS } from '../domain/variants.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Cache } from './cache.ts';
import type { Images } from './images.ts';
import { channelKey, nameKey, originalKey } from './keys.ts';
import type { Caches } from './policy.ts';
import type { Removal, Store } from './store.ts';

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
  readonly images: Pick<Images, 'erase'>;
  /** The ID of one of the operator's own channels, of which images may be stored. */
  readonly findOwnId: (ref: ChannelRef) => Promise<string | undefined>;
  /** Forgets failures, and responses of the last second. */
  readonly forget: () => void;
  readonly runtime: Pick<Runtime, 'clock' | 'health' | 'logger'>;
}

export interface Purge {
  /**
   * Removes everything of the first reference that is known, and the given names: from the stores, from this instance's disk and
   * from the memory of this process. A load that was already running may be stored again.
   *
   * @returns `undefined` if nothing was stored
   * @throws PurgeFailed if something may be left
   */
  purgeChannel(refs: readonly ChannelRef[]): Promise<PurgedChannel | undefined>;
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

  /** Removes as much as possible. */
  async function remove(removal: Removal): Promise<Removed> {
    const parts = [
      ...stores.map((store) => ({ what: `entries in ${store.name}`, removing: store.remove(removal) })),
      { what: 'images on the disk of this instance', removing: images.erase(removal.channelIds) },
    ];
    const results = await Promise.allSettled(parts.map(({ removing }) => removing));
    const failures = results.flatMap((result, index) =>
      result.status === 'rejected' ? [`${parts[index]?.what} (${describeFailure(result.reason)})`] : [],
    );
    if (failures.length > 0) throw new PurgeFailed(`Not removed: ${failures.join(', ')}. Try again when that works`);
    const counts = results.map((result) => (result.status === 'fulfilled' ? result.value : 0));
    return { images: counts.pop() ?? 0, entries: counts.reduce((total, count) => total + count, 0) };
  }

  async function findChannelId(refs: readonly ChannelRef[]): Promise<string | undefined> {
    for (const ref of refs) {
      const found =
        ref.kind === 'id' ? ref.value : ((await findOwnId(ref)) ?? (await valueIn(caches.names, nameKey(ref))));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Returns the channel and, if YouTube redirects it, also its target. */
  async function withTarget(channelId: string): Promise<readonly string[]> {
    const entry = await valueIn(caches.records, channelKey(channelId));
    return entry !== undefined && 'movedTo' in entry ? [entry.movedTo, channelId] : [channelId];
  }

  async function takeDown(channelIds: readonly string[]): Promise<void> {
    try {
      const removed = await remove({ channelIds, keys: channelIds.flatMap(keysOf) });
      if (removed.entries + removed.images > 0) logger.info(removed, 'removed what was stored of blocked channels');
      health.report('removal', null);
    } catch (error) {
      if (!(error instanceof PurgeFailed)) throw error;
      health.report('removal', 'what is stored of blocked channels cannot be removed', error);
      if (!isStopped) cancelRetry = clock.after(TAKE_DOWN_RETRY_MS, () => void takeDown(channelIds));
    }
  }

  return {
    async purgeChannel(refs) {
      const found = await findChannelId(refs);
      const channelIds = found === undefined ? [] : await withTarget(found);
      const removed = await remove({ channelIds, keys: [...channelIds.flatMap(keysOf), ...refs.map(nameKey)] });
      // Afterwards, because a lookup fills memory from the store.
      for (const cache of Object.values(caches) as Cache<unknown>[]) cache.forget();
      forget();
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

/** What a store has under the ID, also if it has lost its list of what names the channel. */
function keysOf(channelId: string): readonly string[] {
  return [channelKey(channelId), ...IMAGE_KINDS.map((kind) => originalKey(channelId, kind))];
}

/** The cached value; `undefined` for an absence. */
async function valueIn<V>(cache: Pick<Cache<V>, 'peek'>, key: string): Promise<V | undefined> {
  const found = await valueOrError(cache.peek(key).then((cached) => cached?.value));
  return found instanceof AppError ? undefined : found;
}
