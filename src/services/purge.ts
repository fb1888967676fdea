import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { Logger } from '../lib/logger.ts';
import { type Change, type Changes, changeOfChannels, EVERYTHING } from '../store/changes.ts';
import { type EntryKind, findEntryKind, nameKey } from '../store/keys.ts';
import type { ReadThrough } from '../store/read-through.ts';
import type { ChannelEntry } from './cache-policy.ts';
import { RemovalDelayed, type Removals } from './removals.ts';

/** What one part of the stores has removed. */
export interface Removed {
  /** The keys of entries. */
  readonly keys?: readonly string[];
  /** Originals and encoded pictures on disk. */
  readonly files?: number;
  readonly bytes?: number;
}

/** The removed entries of a purge. */
export interface Purged {
  /** Removed entries by kind. */
  readonly entries: Readonly<Partial<Record<EntryKind, number>>>;
  /** Removed originals and encoded pictures on disk. */
  readonly pictures: number;
  readonly pictureBytes: number;
}

export interface PurgedChannel extends Purged {
  /**
   * `null` if the name was not known as a channel, and only entries of the name or searches without hits were removed.
   */
  readonly channelId: string | null;
}

interface PurgeOptions {
  readonly changes: Changes;
  readonly removals: Pick<Removals<Removed>, 'remove'>;
  readonly caches: { readonly records: ReadThrough<ChannelEntry>; readonly names: ReadThrough<string> };
}

export type Purge = ReturnType<typeof createPurge>;

/**
 * Erases data from memory and from all stores, with Redis on every instance. Work that began before a purge stores no
 * results of removed data. The methods reject with `RemovalDelayed` when a store or the disk fails to remove something;
 * the removal is then retried until it succeeds.
 */
export function createPurge({ changes, removals, caches: { records, names } }: PurgeOptions) {
  /** Removes what the change concerns. Memory returns nothing of it from the call on, before the promise resolves. */
  async function apply(change: Change): Promise<Purged> {
    const removed = await removals.remove([changes.announce(change)]);
    return {
      entries: countKinds(removed.flatMap(({ keys = [] }) => keys)),
      pictures: removed.reduce((sum, { files = 0 }) => sum + files, 0),
      pictureBytes: removed.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
    };
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
    /**
     * Removes everything about the first reference that is known: record, names, originals, pictures, and the searches
     * that found it. Also removes the entries of the given names, and searches without hits. Returns `undefined` if
     * nothing was stored.
     */
    async purgeChannel(refs: readonly ChannelRef[]): Promise<PurgedChannel | undefined> {
      const found = await findChannelId(refs);
      const channelIds = found === undefined ? [] : await channelIdsOf(found);
      const purged = await apply(
        changeOfChannels(new Set(channelIds), { names: new Set(refs.map(nameOf)), searches: 'empty' }),
      );
      const [channelId = null] = channelIds;
      const isNothing = channelId === null && Object.keys(purged.entries).length === 0;
      return isNothing ? undefined : { channelId, ...purged };
    },

    purgeChannels: (channelIds: readonly string[]) => apply(changeOfChannels(new Set(channelIds))),

    async purgeAll(): Promise<void> {
      await apply(EVERYTHING);
    },

    apply,
  };
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
    const { entries, pictures, pictureBytes } = await purge.purgeChannels(channelIds);
    if (pictures === 0 && Object.keys(entries).length === 0) return;
    logger.info({ entries, pictures, pictureBytes }, 'removed what was stored of blocked channels');
  } catch (error) {
    if (!(error instanceof RemovalDelayed)) logger.error({ err: error }, 'a take-down failed: a bug');
  }
}
