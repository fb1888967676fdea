import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { ImageStore } from '../image-store/images.ts';
import type { Runtime } from '../lib/runtime.ts';
import { withinMs } from '../lib/work.ts';
import { nameKey } from '../store/keys.ts';
import type { ReadThrough } from '../store/read-through.ts';
import { type ErasedEntries, EVERYTHING, type Removal, removalOf } from '../store/removal.ts';
import type { ErasableStore } from '../store/store.ts';
import type { ChannelEntry } from './cache-policy.ts';

/** What a purge has removed. */
export interface Purged {
  readonly entries: ErasedEntries;
  /** Removed originals and encoded images on disk. */
  readonly images: number;
  readonly imageBytes: number;
}

export interface PurgedChannel extends Purged {
  /** `null` if the name was not known as a channel, and only entries of the name were removed. */
  readonly channelId: string | null;
}

/** What could not be erased yet, from the store and from the images on disk. */
export type Unfinished = Readonly<Record<'store' | 'images', readonly Removal[]>>;

interface PurgeOptions {
  readonly stores: {
    readonly caches: { readonly records: ReadThrough<ChannelEntry>; readonly names: ReadThrough<string> };
    readonly store: Pick<ErasableStore, 'erase' | 'isShared'>;
    /** What the store has not erased yet. */
    readonly unfinished: Set<Removal>;
    readonly images: Pick<ImageStore, 'erase'>;
  };
  readonly runtime: Pick<Runtime, 'clock' | 'epochs' | 'health' | 'holders'>;
  /** Called with each change, so that the next start can resume. */
  readonly onUnfinished?: (unfinished: Unfinished) => void;
}

/** The message names the parts and is for the operator. */
export class RemovalDelayed extends Error {
  override name = 'RemovalDelayed';
}

interface Part {
  /** For messages. */
  readonly name: string;
  readonly unfinished: Set<Removal>;
  /** Those of the unfinished that must be repeated. */
  readonly failed: Set<Removal>;
  erase(removal: Removal): Promise<Partial<Purged>>;
}

const RETRY_MS = 1_000;
/** A service has ten seconds to stop. The next start completes the removal. */
const CLOSE_MS = 5_000;
/** More failed removals become one removal of everything. */
const MAX_FAILED = 100;
/** A channel ID or name in a set. */
const BYTES_PER_NAME = 100;

/**
 * Removes data from memory, store and images. The current epoch ends, so that work that has begun keeps no results. The
 * methods resolve when nothing is left here; with Redis other instances follow. They reject with `RemovalDelayed` when the
 * store or the disk fails; the removal is then repeated until it succeeds, also by the next start.
 */
export interface Purge {
  /**
   * Removes everything about the first reference that is known, and the entries of the given names. Returns `undefined` if
   * nothing was stored.
   */
  purgeChannel(refs: readonly ChannelRef[]): Promise<PurgedChannel | undefined>;
  purgeAll(): Promise<Purged>;
  /** Memory returns nothing of what is removed from the call on. */
  remove(removal: Removal): Promise<Purged>;
  /** Removes images of channels that another instance has erased from the shared store. */
  removeImages(removals: readonly Removal[]): Promise<unknown>;
  /** Continues with what an earlier run could not finish. */
  resume(unfinished: Unfinished): Promise<unknown>;
  /** Cancels repetitions, and waits some seconds for current removals. */
  close(): Promise<void>;
}

export function createPurge({ stores, runtime, onUnfinished }: PurgeOptions): Purge {
  const { caches, store, images } = stores;
  const { records, names } = caches;
  const { clock, epochs, health, holders } = runtime;
  const storePart: Part = {
    name: store.isShared === true ? 'Redis' : 'cache.db',
    unfinished: stores.unfinished,
    failed: new Set(),
    erase: async (removal) => ({ entries: await store.erase(removal) }),
  };
  const imagesPart: Part = {
    name: 'the images on disk',
    unfinished: new Set(),
    failed: new Set(),
    async erase(removal) {
      const { files, bytes } = await images.erase(removal);
      return { images: files, imageBytes: bytes };
    },
  };
  const parts = [storePart, imagesPart];
  const running = new Set<Promise<unknown>>();
  let cancelRetry: (() => void) | undefined;
  let isClosed = false;

  holders.add('removals that failed', () => {
    const failed = parts.flatMap((part) => [...part.failed]);
    const named = failed.reduce((sum, { channelIds, names }) => sum + channelIds.length + names.length, 0);
    return { entries: failed.length, maxEntries: parts.length * MAX_FAILED, bytes: named * BYTES_PER_NAME };
  });

  function save(): void {
    onUnfinished?.({ store: [...storePart.unfinished], images: [...imagesPart.unfinished] });
  }

  function report(error?: unknown): void {
    const names = parts.filter(({ failed }) => failed.size > 0).map(({ name }) => name);
    const problem = `what was purged or taken down is still in ${names.join(' and ')}; retrying until it is removed`;
    health.report('removal', names.length === 0 ? null : problem, error);
  }

  async function attempt(part: Part, removal: Removal): Promise<Partial<Purged>> {
    part.unfinished.add(removal);
    try {
      const purged = await part.erase(removal);
      part.unfinished.delete(removal);
      part.failed.delete(removal);
      return purged;
    } catch (error) {
      part.failed.add(removal);
      if (part.failed.size > MAX_FAILED) join(part);
      report(error);
      scheduleRetry();
      throw error;
    }
  }

  function scheduleRetry(): void {
    if (!isClosed) cancelRetry ??= clock.after(RETRY_MS, () => void retry());
  }

  async function retry(): Promise<void> {
    for (const part of parts) {
      for (const removal of [...part.failed]) await removeFrom([part], removal).catch(() => undefined);
    }
    report();
    cancelRetry = undefined;
    if (parts.some(({ failed }) => failed.size > 0)) scheduleRetry();
  }

  function removeFrom(places: readonly Part[], removal: Removal): Promise<Purged> {
    const removing = eraseFrom(places, removal).finally(() => running.delete(removing));
    running.add(removing);
    return removing;
  }

  async function eraseFrom(places: readonly Part[], removal: Removal): Promise<Purged> {
    const attempts = places.map((part) => attempt(part, removal));
    save();
    const outcomes = await Promise.allSettled(attempts);
    // Meanwhile memory may have read images from disk.
    if (removal.includesImages) epochs.next('purge');
    save();
    const failed = places.filter((_, at) => outcomes[at]?.status === 'rejected').map(({ name }) => name);
    if (failed.length > 0) {
      const cause: unknown = outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
      throw new RemovalDelayed(`it is still in ${failed.join(' and ')}`, { cause });
    }
    const purged: Purged = { entries: {}, images: 0, imageBytes: 0 };
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') Object.assign(purged, outcome.value);
    return purged;
  }

  function remove(removal: Removal): Promise<Purged> {
    epochs.next(removal.includesImages ? 'purge' : 'change');
    return removeFrom(parts, removal);
  }

  async function findChannelId(refs: readonly ChannelRef[]): Promise<string | undefined> {
    for (const ref of refs) {
      const channelId = ref.kind === 'id' ? ref.value : await names.find(nameKey(ref));
      if (channelId !== undefined) return channelId;
    }
    return undefined;
  }

  /** Returns the channel that it redirects to, and the channel itself. */
  async function channelIdsOf(channelId: string): Promise<[string, string]> {
    const entry = await records.find(channelId);
    return [entry !== undefined && 'movedTo' in entry ? entry.movedTo : channelId, channelId];
  }

  return {
    async purgeChannel(refs) {
      const found = await findChannelId(refs);
      const channelIds = found === undefined ? [] : await channelIdsOf(found);
      const purged = await remove(removalOf([...new Set(channelIds)], refs.map(nameOf)));
      const [channelId = null] = channelIds;
      const { search: _, ...ownEntries } = purged.entries;
      const isNothing = channelId === null && Object.keys(ownEntries).length === 0;
      return isNothing ? undefined : { channelId, ...purged };
    },

    purgeAll: () => remove(EVERYTHING),

    remove,

    async removeImages(removals) {
      if (removals.length === 0) return;
      const channelIds = removals.some(({ channelIds }) => channelIds === 'all')
        ? 'all'
        : [...new Set(removals.flatMap(({ channelIds }) => channelIds))];
      await removeFrom([imagesPart], { channelIds, names: [], includesImages: true });
    },

    resume(unfinished) {
      epochs.next('purge');
      return Promise.all([
        ...unfinished.store.map((removal) => removeFrom([storePart], removal)),
        ...unfinished.images.map((removal) => removeFrom([imagesPart], removal)),
      ]);
    },

    async close() {
      isClosed = true;
      cancelRetry?.();
      await withinMs(clock, Promise.allSettled(running), CLOSE_MS);
    },
  };
}

/** Replaces what has failed by one removal of at least as much. */
function join({ unfinished, failed }: Part): void {
  const all = { ...EVERYTHING, includesImages: [...failed].some(({ includesImages }) => includesImages) };
  for (const removal of failed) unfinished.delete(removal);
  failed.clear();
  unfinished.add(all);
  failed.add(all);
}
