import type { HolderStats } from '../lib/holders.ts';
import { latestChange, nextChange } from '../lib/request-context.ts';
import { channelIdsIn, channelOfPicture, findEntryKind, nameInKey } from './keys.ts';

/** What a purge, a take-down or a change of the catalog takes away. */
export interface Change {
  /** Everything whose key or value names one of them. */
  readonly channelIds: ReadonlySet<string> | 'all';
  /** Handles and user names (`nameOf`), whatever is known of them. */
  readonly names: ReadonlySet<string>;
  /** Searches that name one of the channels go always; those that found nothing, or all of them, go too. */
  readonly searches: 'naming' | 'empty' | 'all';
  /** False where only records, names and searches go: a changed record says by itself whether its pictures are others. */
  readonly includesPictures: boolean;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** Everything that is kept of the channels. */
export function changeOfChannels(channelIds: ReadonlySet<string>, more: Partial<Change> = {}): Change {
  return { channelIds, names: NO_NAMES, searches: 'naming', includesPictures: true, ...more };
}

export const EVERYTHING: Change = { channelIds: 'all', names: NO_NAMES, searches: 'all', includesPictures: true };

export function isEverything({ channelIds, includesPictures }: Change): boolean {
  return channelIds === 'all' && includesPictures;
}

const KINDS_WITHOUT_PICTURES: ReadonlySet<string> = new Set(['channel', 'name', 'search']);

/**
 * Whether the change takes an entry away.
 *
 * @param named the channels that its value names
 */
export function concernsEntry(change: Change, key: string, named: readonly string[]): boolean {
  const { channelIds, names, searches, includesPictures } = change;
  const kind = findEntryKind(key);
  if (!includesPictures && !KINDS_WITHOUT_PICTURES.has(kind ?? '')) return false;
  if (channelIds === 'all') return true;
  if (kind === 'search' && (searches === 'all' || (searches === 'empty' && named.length === 0))) return true;
  if (kind === 'name' && names.has(nameInKey(key))) return true;
  return named.some((id) => channelIds.has(id)) || channelIdsIn(key).some((id) => channelIds.has(id));
}

/** Whether an entry that the change leaves by its key may still go by what its value names. */
export function mayConcernValue({ channelIds, searches, includesPictures }: Change, key: string): boolean {
  const kind = findEntryKind(key) ?? '';
  if (kind === 'search' && searches === 'empty') return true;
  return channelIds !== 'all' && channelIds.size > 0 && (includesPictures || KINDS_WITHOUT_PICTURES.has(kind));
}

/** Whether the change takes a picture away: an original's bytes, or what was made of one. */
export function concernsPicture({ channelIds, includesPictures }: Change, pictureKey: string): boolean {
  return includesPictures && (channelIds === 'all' || channelIds.has(channelOfPicture(pictureKey)));
}

/** One change that takes away what both do. */
export function mergeChanges(first: Change, second: Change): Change {
  const isAll = first.channelIds === 'all' || second.channelIds === 'all';
  return {
    channelIds: isAll ? 'all' : new Set([...first.channelIds, ...second.channelIds]),
    names: new Set([...first.names, ...second.names]),
    searches: SEARCHES.find((which) => which === first.searches || which === second.searches) ?? 'naming',
    includesPictures: first.includesPictures || second.includesPictures,
  };
}

/** Those that take away more come first. */
const SEARCHES = ['all', 'empty', 'naming'] as const;

/** A change that was announced. */
export interface AnnouncedChange {
  readonly change: Change;
  /** Its number; see `lib/request-context.ts`. */
  readonly number: number;
  /** False for one that another instance has published. */
  readonly isOwn: boolean;
  /** Monotonic. */
  readonly atMs: number;
  /** Its place among the changes that instances share; unset while it has none. */
  position: string | undefined;
}

/**
 * Which changes there were lately. Whoever keeps something asks whether a change concerns it that came after its work
 * began; then it must not be kept.
 */
export interface Changes {
  /**
   * From now on nothing that the change concerns is returned from memory, and nothing of it is kept that comes from work
   * that began before. Stores and files are the caller's.
   *
   * @param position of a change that another instance has published
   */
  announce(change: Change, position?: string): AnnouncedChange;
  /** Those of this instance that came at that time or later, oldest first. */
  ownSince(atMs: number): readonly AnnouncedChange[];
  /** True where a change with a higher number fits. Changes that are not known any more fit everything. */
  hasSince(number: number, fits: (change: Change) => boolean): boolean;
  /** True where a change fits that is not among those that were made when a value was stored at this place. */
  hasBeyond(isBeyond: (position: string) => boolean, fits: (change: Change) => boolean): boolean;
  /** Frees the memory of what changes have taken away, in steps that let other work through. */
  sweep(): Promise<void>;
  /** Adds something that `sweep` is to free memory of. */
  addSweep(sweep: () => Promise<void>): void;
  stats(): HolderStats;
}

const MAX_CHANGES = 1_000;
/** Channels and names of all of them together: an import can name many. */
const MAX_NAMED = 200_000;

export function createChanges(): Changes {
  const log: AnnouncedChange[] = [];
  const sweeps: (() => Promise<void>)[] = [];
  let named = 0;
  /** The highest number that is not in the log any more. */
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
    announce(change, position) {
      const announced: AnnouncedChange = {
        change,
        number: nextChange(),
        isOwn: position === undefined,
        atMs: performance.now(),
        position,
      };
      log.push(announced);
      named += countNamed(change);
      shorten();
      return announced;
    },

    ownSince: (atMs) => log.filter((each) => each.isOwn && each.atMs >= atMs),

    hasSince(number, fits) {
      if (number >= latestChange()) return false;
      if (number < forgotten) return true;
      return log.some((each) => each.number > number && fits(each.change));
    },

    hasBeyond: (isBeyond, fits) =>
      log.some(({ change, position }) => (position === undefined || isBeyond(position)) && fits(change)),

    async sweep() {
      for (const sweep of sweeps) await sweep();
    },

    addSweep(sweep) {
      sweeps.push(sweep);
    },

    stats: () => ({ entries: log.length, maxEntries: MAX_CHANGES, bytes: named * BYTES_PER_NAME, maxBytes: MAX_BYTES }),
  };
}

/** A channel ID or a name as an item of a set. */
const BYTES_PER_NAME = 100;
const MAX_BYTES = MAX_NAMED * BYTES_PER_NAME;

function countNamed({ channelIds, names }: Change): number {
  return names.size + (channelIds === 'all' ? 0 : channelIds.size);
}
