import { latestChange, nextChange } from '../lib/change-count.ts';
import type { HolderStats } from '../lib/holders.ts';
import type { Change } from './change.ts';

/** A change that was announced. */
export interface Announced {
  readonly change: Change;
  /** Its number; see `lib/change-count.ts`. */
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
  announce(change: Change, position?: string): Announced;
  /** Those of this instance that came at that time or later, oldest first. */
  ownSince(atMs: number): readonly Announced[];
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
  const log: Announced[] = [];
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
      const announced: Announced = {
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
