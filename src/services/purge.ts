import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { ImageStore } from '../image-store/images.ts';
import type { Logger } from '../lib/logger.ts';
import type { Runtime } from '../lib/runtime.ts';
import { withinMs } from '../lib/work.ts';
import {
  type AnnouncedChange,
  type Change,
  type Changes,
  changeOfChannels,
  EVERYTHING,
  mergeChanges,
} from '../store/changes.ts';
import { type EntryKind, findEntryKind, nameKey } from '../store/keys.ts';
import type { ReadThrough } from '../store/read-through.ts';
import { isLater, type SharedChanges } from '../store/shared-changes.ts';
import type { ErasableStore } from '../store/store.ts';
import type { ChannelEntry } from './cache-policy.ts';

/** The removed entries of a purge. */
interface Purged {
  readonly entries: Readonly<Partial<Record<EntryKind, number>>>;
  /** Removed originals and encoded images on disk. */
  readonly images: number;
  readonly imageBytes: number;
}

export interface PurgedChannel extends Purged {
  /**
   * `null` if the name was not known as a channel, and only entries of the name or searches without hits were removed.
   */
  readonly channelId: string | null;
}

interface PurgedStores {
  readonly changes: Changes;
  readonly caches: { readonly records: ReadThrough<ChannelEntry>; readonly names: ReadThrough<string> };
  readonly store: Pick<ErasableStore, 'erase'>;
  readonly images: Pick<ImageStore, 'erase'>;
  /** With `REDIS_URL` only. */
  readonly sharedChanges: Pick<SharedChanges, 'publish'> | undefined;
}

/** The message names the parts and is for the operator. */
export class RemovalDelayed extends Error {
  override name = 'RemovalDelayed';
  /** Resolves when retries have removed everything. */
  readonly removed: Promise<void>;

  constructor(message: string, removed: Promise<void>, options: ErrorOptions) {
    super(message, options);
    this.removed = removed;
  }
}

interface RemovalPart {
  /** For messages. */
  readonly name: string;
  remove(announced: readonly AnnouncedChange[]): Promise<Partial<Purged>>;
}

const RETRY_MS = 1_000;
/** A service has ten seconds to stop. The next start completes the removal. */
const CLOSE_MS = 5_000;
/** More changes are merged into one. */
const MAX_WAITING = 100;

/**
 * Erases data from memory and from all stores, with Redis on every instance. Work that began before a purge stores no
 * results of removed data. The methods reject with `RemovalDelayed` when a part of the stores fails to remove something;
 * the other parts have finished, and the failed part is retried until it succeeds.
 */
export interface Purge {
  /**
   * Removes everything about the first reference that is known: record, names, originals, images, and the searches that
   * found it. Also removes the entries of the given names, and searches without hits. Returns `undefined` if nothing was
   * stored.
   */
  purgeChannel(refs: readonly ChannelRef[]): Promise<PurgedChannel | undefined>;
  purgeChannels(channelIds: readonly string[]): Promise<Purged>;
  purgeAll(): Promise<Purged>;
  /** Announces the change and removes what it concerns. Memory returns nothing of that from the call on. */
  apply(change: Change): Promise<Purged>;
  /** Like `apply`, for changes that were announced before. */
  remove(announced: readonly AnnouncedChange[]): Promise<Purged>;
  /** Cancels retries, and waits some seconds for current removals. */
  close(): Promise<void>;
}

export function createPurge(stores: PurgedStores, { clock, health }: Pick<Runtime, 'clock' | 'health'>): Purge {
  const { changes, caches, store, images, sharedChanges } = stores;
  const { records, names } = caches;
  /** What `remove` removes counts as absent from the call on, not only after its first `await`. */
  const parts: readonly RemovalPart[] = [
    { name: 'memory', remove: () => changes.sweep().then(() => ({})) },
    { name: 'the images on disk', remove: removeImages },
    { name: sharedChanges === undefined ? 'cache.db' : 'Redis', remove: removeEntries },
  ];
  /** Changes that parts have not applied yet. */
  const waiting = new Map<RemovalPart, readonly AnnouncedChange[]>();
  let cancelRetry: (() => void) | undefined;
  /** From the first failure until all parts have applied what they are waiting for. */
  let delay: PromiseWithResolvers<void> | undefined;
  let retries = 0;
  let isClosed = false;
  const running = new Set<Promise<unknown>>();

  async function removeImages(announced: readonly AnnouncedChange[]): Promise<Partial<Purged>> {
    const { files, bytes } = await images.erase(announced.reduce(mergeAnnounced).change);
    return { images: files, imageBytes: bytes };
  }

  async function removeEntries(announced: readonly AnnouncedChange[]): Promise<Partial<Purged>> {
    // Another instance removes its changes from Redis itself.
    const own = announced.filter(({ isOwn }) => isOwn);
    if (own.length === 0) return {};
    // Published first: otherwise other instances could store an old value after the removal. Nothing else is awaited, because
    // `erase` hides the entries from its call on.
    for (const each of own) {
      if (sharedChanges !== undefined && each.position === undefined) await sharedChanges.publish(each);
    }
    const { change, position } = own.reduce(mergeAnnounced);
    return { entries: countKinds(await store.erase(change, position)) };
  }

  /** Rejects if the part fails; it is then retried. */
  async function removeFrom(part: RemovalPart, announced: readonly AnnouncedChange[]): Promise<Partial<Purged>> {
    const removing = part.remove(announced).finally(() => running.delete(removing));
    running.add(removing);
    try {
      return await removing;
    } catch (error) {
      const all = [...announced, ...(waiting.get(part) ?? [])];
      waiting.set(part, all.length > MAX_WAITING ? [all.reduce(mergeAnnounced)] : all);
      reportState(error);
      delay ??= Promise.withResolvers();
      if (!isClosed) cancelRetry ??= clock.after(RETRY_MS, retry);
      throw error;
    }
  }

  function retry(): void {
    cancelRetry = undefined;
    for (const [part, announced] of [...waiting]) {
      waiting.delete(part);
      void retryPart(part, announced);
    }
  }

  async function retryPart(part: RemovalPart, announced: readonly AnnouncedChange[]): Promise<void> {
    retries += 1;
    try {
      await removeFrom(part, announced);
      reportState();
    } catch {
      // It waits again.
    } finally {
      retries -= 1;
    }
    if (retries > 0 || waiting.size > 0) return;
    delay?.resolve();
    delay = undefined;
  }

  function reportState(error?: unknown): void {
    const names = Array.from(waiting.keys(), ({ name }) => name);
    const problem = `what was purged or taken down is still in ${names.join(' and ')}; retrying until it is removed`;
    health.report('removal', names.length === 0 ? null : problem, error);
  }

  /** Removes what the changes concern from all parts. */
  async function remove(announced: readonly AnnouncedChange[]): Promise<Purged> {
    const outcomes = await Promise.allSettled(parts.map((part) => removeFrom(part, announced)));
    const failed = parts.filter((_, at) => outcomes[at]?.status === 'rejected').map(({ name }) => name);
    const cause: unknown = outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
    if (failed.length > 0) {
      // Retries may have succeeded before the slowest part has ended.
      throw new RemovalDelayed(`it is still in ${failed.join(' and ')}`, delay?.promise ?? Promise.resolve(), {
        cause,
      });
    }
    const purged: Purged = { entries: {}, images: 0, imageBytes: 0 };
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') Object.assign(purged, outcome.value);
    return purged;
  }

  function apply(change: Change): Promise<Purged> {
    return remove([changes.announce(change)]);
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
      const purged = await apply(
        changeOfChannels(new Set(channelIds), { names: new Set(refs.map(nameOf)), searches: 'empty' }),
      );
      const [channelId = null] = channelIds;
      const isNothing = channelId === null && Object.keys(purged.entries).length === 0;
      return isNothing ? undefined : { channelId, ...purged };
    },

    purgeChannels: (channelIds) => apply(changeOfChannels(new Set(channelIds))),

    purgeAll: () => apply(EVERYTHING),

    apply,

    remove,

    async close() {
      isClosed = true;
      cancelRetry?.();
      await withinMs(clock, Promise.allSettled(running), CLOSE_MS);
    },
  };
}

/** Removes what both remove. Has the later position; none, and is published again, unless both are published. */
function mergeAnnounced(first: AnnouncedChange, second: AnnouncedChange): AnnouncedChange {
  const { position } = second;
  const isSecondLast = position === undefined || (first.position !== undefined && isLater(position, first.position));
  return { ...(isSecondLast ? second : first), change: mergeChanges(first.change, second.change) };
}

function countKinds(keys: readonly string[]): Purged['entries'] {
  const counts: Partial<Record<EntryKind, number>> = {};
  for (const kind of keys.map(findEntryKind)) if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/**
 * Removes stored data of blocked channels. Requests need not wait for it: blocked channels get a 451 in any case. Never
 * rejects. A failed removal is retried and shown in `/readyz` until it succeeds.
 */
export async function takeDown(purge: Purge, channelIds: readonly string[], logger: Logger): Promise<void> {
  if (channelIds.length === 0) return;
  try {
    const { entries, images, imageBytes } = await purge.purgeChannels(channelIds);
    if (images === 0 && Object.keys(entries).length === 0) return;
    logger.info({ entries, images, imageBytes }, 'removed what was stored of blocked channels');
  } catch (error) {
    if (!(error instanceof RemovalDelayed)) logger.error({ err: error }, 'a take-down failed: a bug');
  }
}
