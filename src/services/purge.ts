import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { Logger } from '../lib/logger.ts';
import { type AnnouncedChange, type Change, type Changes, changeOfChannels, EVERYTHING } from '../store/changes.ts';
import { channelKey, type EntryKind, findEntryKind, nameKey } from '../store/keys.ts';
import type { ReadThrough } from '../store/read-through.ts';
import type { ChannelEntry } from './cache-policy.ts';
import { RemovalDelayed, type Removals } from './removals.ts';

/** What a part has removed. */
export interface Removed {
  /** Of entries of stores. */
  readonly keys: readonly string[];
  readonly files: number;
  readonly fileBytes: number;
}

/** What a purge has taken away. */
export interface Purged {
  /** In the stores. */
  readonly entries: Readonly<Partial<Record<EntryKind, number>>>;
  /** Originals and all that was made of them, on disk. */
  readonly pictures: number;
  readonly pictureBytes: number;
}

export interface PurgedChannel extends Purged {
  /** `null` where no channel was known by the name, and only that, or searches without a result, was forgotten. */
  readonly channelId: string | null;
}

/**
 * Takes things out of memory and of all stores, their bytes included, here and with Redis on every instance. What began
 * before keeps nothing of it afterwards. Each rejects with `RemovalDelayed` when a store or the disk does not let go of
 * something; that is tried again until it does.
 */
export interface Purge {
  /**
   * Everything kept of the first of the references that is known here: record, names, originals, pictures, and the
   * searches that found it; also what is known of the names themselves, and searches that found nothing. `undefined` where
   * there was nothing of all that.
   */
  purgeChannel(refs: readonly ChannelRef[]): Promise<PurgedChannel | undefined>;
  purgeChannels(channelIds: readonly string[]): Promise<Purged>;
  purgeAll(): Promise<void>;
  /** The same for any change. From its first step on, before it returns, nothing of it is answered from memory. */
  apply(change: Change): Promise<Purged>;
}

export interface PurgeOptions {
  readonly changes: Changes;
  readonly removals: Pick<Removals<Removed>, 'remove'>;
  readonly caches: { readonly records: ReadThrough<ChannelEntry>; readonly names: ReadThrough<string> };
}

export function createPurge({ changes, removals, caches: { records, names } }: PurgeOptions): Purge {
  async function apply(change: Change): Promise<Purged> {
    const announced: AnnouncedChange = changes.announce(change);
    const removed = await removals.remove([announced]);
    return {
      entries: countKinds(removed.flatMap(({ keys }) => keys)),
      pictures: sum(removed.map(({ files }) => files)),
      pictureBytes: sum(removed.map(({ fileBytes }) => fileBytes)),
    };
  }

  async function findChannelId(refs: readonly ChannelRef[]): Promise<string | undefined> {
    for (const ref of refs) {
      const channelId = ref.kind === 'id' ? ref.value : await names.find(nameKey(ref));
      if (channelId !== undefined) return channelId;
    }
    return undefined;
  }

  /** With the one that it redirects to. */
  async function channelIdsOf(channelId: string): Promise<[string, string]> {
    const entry = await records.find(channelKey(channelId));
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

    async purgeAll() {
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

export interface TakeDownOptions {
  readonly purge: Pick<Purge, 'purgeChannels'>;
  readonly channelIds: readonly string[];
  readonly logger: Logger;
}

/**
 * Removes what earlier runs have stored of blocked channels. Nobody need wait for it: they are answered with 451
 * whatever is stored. Never rejects; what cannot be removed is tried again, and shows in `/readyz` until it is gone.
 */
export async function takeDown({ purge, channelIds, logger }: TakeDownOptions): Promise<void> {
  if (channelIds.length === 0) return;
  try {
    const { entries, pictures, pictureBytes } = await purge.purgeChannels(channelIds);
    if (pictures === 0 && Object.keys(entries).length === 0) return;
    logger.info({ entries, pictures, pictureBytes }, 'removed what was stored of blocked channels');
  } catch (error) {
    if (!(error instanceof RemovalDelayed)) logger.error({ err: error }, 'a take-down failed: a bug');
  }
}
