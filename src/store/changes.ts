import type { HolderStats } from '../lib/holders.ts';
import { latestChange, nextChange } from '../lib/work.ts';
import { channelIdsIn, channelOfImage, findEntryKind, nameInKey } from './keys.ts';

/** What a purge, a take-down or a change of the catalog removes. */
export interface Change {
  /** Removes everything whose key or value names one of these channels. */
  readonly channelIds: ReadonlySet<string> | 'all';
  /** Removes the entries of these handles and user names (`nameOf`). */
  readonly names: ReadonlySet<string>;
  /**
   * Searches that name one of the channels are always removed. `empty`: also searches without hits. `all`: every
   * search.
   */
  readonly searches: 'naming' | 'empty' | 'all';
  /** False: removes only records, names and searches. A changed record itself refers to its new images. */
  readonly includesImages: boolean;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** A change that removes everything about the channels. */
export function changeOfChannels(channelIds: ReadonlySet<string>, more: Partial<Change> = {}): Change {
  return { channelIds, names: NO_NAMES, searches: 'naming', includesImages: true, ...more };
}

export const EVERYTHING: Change = { channelIds: 'all', names: NO_NAMES, searches: 'all', includesImages: true };

const KINDS_WITHOUT_IMAGES: ReadonlySet<string> = new Set(['channel', 'name', 'search']);

/**
 * True when the change removes the entry.
 *
 * @param named the channels in its value
 */
export function concernsEntry(change: Change, key: string, named: readonly string[]): boolean {
  const { channelIds, names, searches, includesImages } = change;
  const kind = findEntryKind(key);
  if (!includesImages && !KINDS_WITHOUT_IMAGES.has(kind ?? '')) return false;
  if (channelIds === 'all') return true;
  if (kind === 'search' && (searches === 'all' || (searches === 'empty' && named.length === 0))) return true;
  if (kind === 'name' && names.has(nameInKey(key))) return true;
  return named.some((id) => channelIds.has(id)) || channelIdsIn(key).some((id) => channelIds.has(id));
}

/** True when the change removes the original or encoded image. */
export function concernsImage({ channelIds, includesImages }: Change, imageKey: string): boolean {
  return includesImages && (channelIds === 'all' || channelIds.has(channelOfImage(imageKey)));
}

/** Returns one change that removes what both remove. */
export function mergeChanges(first: Change, second: Change): Change {
  const isAll = first.channelIds === 'all' || second.channelIds === 'all';
  return {
    channelIds: isAll ? 'all' : new Set([...first.channelIds, ...second.channelIds]),
    names: new Set([...first.names, ...second.names]),
    searches: SEARCHES.find((which) => which === first.searches || which === second.searches) ?? 'naming',
    includesImages: first.includesImages || second.includesImages,
  };
}

/** The most extensive comes first. */
const SEARCHES = ['all', 'empty', 'naming'] as const;

export interface AnnouncedChange {
  readonly change: Change;
  /** Its number; see `lib/work.ts`. */
  readonly number: number;
  /** False when another instance published it. */
  readonly isOwn: boolean;
  /** Monotonic. */
  readonly atMs: number;
  /** Its position in the shared stream, once it is published. */
  position: string | undefined;
}

const MAX_CHANGES = 1_000;
/** Channels and names in all changes together: an import can name many. */
const MAX_NAMED = 200_000;

export type Changes = ReturnType<typeof createChanges>;

/** The recent changes. A result must not be kept if a change that came after its work began concerns it. */
export function createChanges() {
  const log: AnnouncedChange[] = [];
  const sweeps: (() => Promise<void>)[] = [];
  let named = 0;
  /** The highest number that was dropped from the log. */
  let forgotten = 0;

  function shorten(): void {
    while (log.length > MAX_CHANGES || named > MAX_NAMED) {
      const oldest = log.shift();
      if (oldest === undefined) return;
      named -= countNamed(oldest.change);
      forgotten = oldest.number;
    }
  }

  return {
    /**
     * From now on memory returns nothing that the change concerns, and no such result of earlier work is kept. The caller
     * erases stores and files.
     *
     * @param position of a change that another instance published
     */
    announce(change: Change, position?: string): AnnouncedChange {
      const isOwn = position === undefined;
      const announced = { change, number: nextChange(), isOwn, atMs: performance.now(), position };
      log.push(announced);
      named += countNamed(change);
      shorten();
      return announced;
    },

    /** This instance's changes since that time, oldest first. */
    ownSince: (atMs: number) => log.filter((each) => each.isOwn && each.atMs >= atMs),

    /** True when a change with a higher number matches. Forgotten changes match everything. */
    hasSince(number: number, fits: (change: Change) => boolean): boolean {
      if (number >= latestChange()) return false;
      if (number < forgotten) return true;
      return log.some((each) => each.number > number && fits(each.change));
    },

    /** True when a change matches that has no position yet, or one for which `isBeyond` is true. */
    hasBeyond: (isBeyond: (position: string) => boolean, fits: (change: Change) => boolean) =>
      log.some(({ change, position }) => (position === undefined || isBeyond(position)) && fits(change)),

    /** Frees the memory of removed values, in steps, so that other work can run in between. */
    async sweep(): Promise<void> {
      for (const sweep of sweeps) await sweep();
    },

    /** Adds a function that `sweep` calls. */
    addSweep(sweep: () => Promise<void>): void {
      sweeps.push(sweep);
    },

    stats: (): HolderStats => ({
      entries: log.length,
      maxEntries: MAX_CHANGES,
      bytes: named * BYTES_PER_NAME,
      maxBytes: MAX_NAMED * BYTES_PER_NAME,
    }),
  };
}

/** A channel ID or name in a set. */
const BYTES_PER_NAME = 100;

function countNamed({ channelIds, names }: Change): number {
  return names.size + (channelIds === 'all' ? 0 : channelIds.size);
}
