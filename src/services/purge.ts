import { type ChannelRef, nameOf } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
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
import type { ChannelEntry } from './cache-policy.ts';

export interface Removed {
  readonly keys?: readonly string[];
  /** Originals and encoded pictures on disk. */
  readonly files?: number;
  readonly bytes?: number;
}

/** The removed entries of a purge. */
export interface Purged {
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

/** A part of the stores that removes what changes concern. */
interface RemovalPart {
  /** For messages. */
  readonly name: string;
  /** What it removes counts as absent from the call on, not only after its first `await`. */
  remove(announced: readonly AnnouncedChange[]): Promise<Removed>;
}

interface PurgeOptions {
  readonly clock: Clock;
  readonly changes: Changes;
  readonly caches: { readonly records: ReadThrough<ChannelEntry>; readonly names: ReadThrough<string> };
  readonly parts: readonly RemovalPart[];
  /** Called with the names of the parts that are retried; empty once everything is removed. */
  readonly onStateChange: (waiting: readonly string[], error?: unknown) => void;
}

/** The message names the parts and is for the operator. */
export class RemovalDelayed extends Error {
  constructor(parts: readonly string[], cause: unknown) {
    super(`it is still in ${parts.join(' and ')}`, { cause });
    this.name = 'RemovalDelayed';
  }
}

const RETRY_MS = 1_000;
/** A service has ten seconds to stop. The next start completes the removal. */
const CLOSE_MS = 5_000;
/** More changes are merged into one. */
const MAX_WAITING = 100;

export type Purge = ReturnType<typeof createPurge>;

/**
 * Erases data from memory and from all stores, with Redis on every instance. Work that began before a purge stores no
 * results of removed data. The methods reject with `RemovalDelayed` when a part of the stores fails to remove something;
 * the other parts have finished, and the failed part is retried until it succeeds.
 */
export function createPurge({ clock, changes, caches: { records, names }, parts, onStateChange }: PurgeOptions) {
  /** Changes that parts have not applied yet. */
  const waiting = new Map<RemovalPart, readonly AnnouncedChange[]>();
  let cancelRetry: (() => void) | undefined;
  let isClosed = false;
  const running = new Set<Promise<unknown>>();

  /** Rejects if the part fails; it is then retried. */
  async function removeFrom(part: RemovalPart, announced: readonly AnnouncedChange[]): Promise<Removed> {
    const removing = part.remove(announced).finally(() => running.delete(removing));
    running.add(removing);
    try {
      return await removing;
    } catch (error) {
      const all = [...announced, ...(waiting.get(part) ?? [])];
      waiting.set(part, all.length > MAX_WAITING ? [all.reduce(mergeAnnounced)] : all);
      reportState(error);
      if (!isClosed) cancelRetry ??= clock.after(RETRY_MS, retry);
      throw error;
    }
  }

  function retry(): void {
    cancelRetry = undefined;
    for (const [part, announced] of [...waiting]) {
      waiting.delete(part);
      removeFrom(part, announced).then(
        () => reportState(),
        () => undefined,
      );
    }
  }

  function reportState(error?: unknown): void {
    const waitingNames = Array.from(waiting.keys(), ({ name }) => name);
    onStateChange(waitingNames, error);
  }

  /** Removes what the changes concern from all parts. */
  async function remove(announced: readonly AnnouncedChange[]): Promise<Purged> {
    const outcomes = await Promise.allSettled(parts.map((part) => removeFrom(part, announced)));
    const failed = parts.filter((_, at) => outcomes[at]?.status === 'rejected').map(({ name }) => name);
    const cause: unknown = outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
    if (failed.length > 0) throw new RemovalDelayed(failed, cause);
    const removed = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    return {
      entries: countKinds(removed.flatMap(({ keys = [] }) => keys)),
      pictures: removed.reduce((sum, { files = 0 }) => sum + files, 0),
      pictureBytes: removed.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
    };
  }

  /** Memory returns nothing that the change concerns from the call on, before the promise resolves. */
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

    /** Like `apply`, for changes that were announced before. */
    remove,

    /** Cancels retries, and waits some seconds for current removals. */
    async close(): Promise<void> {
      isClosed = true;
      cancelRetry?.();
      await withinMs(clock, Promise.allSettled(running), CLOSE_MS);
    },
  };
}

function mergeAnnounced(first: AnnouncedChange, second: AnnouncedChange): AnnouncedChange {
  return { ...second, change: mergeChanges(first.change, second.change) };
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
