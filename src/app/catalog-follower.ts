import type { Clock } from '../lib/clock.ts';
import type { Purge } from '../services/purge.ts';
import { RemovalDelayed } from '../services/removals.ts';
import type { CatalogWatch, ChangesSince } from '../sources/catalog/change-log.ts';
import { type Change, changeOfChannels } from '../store/changes.ts';
import type { AppliedChanges } from './applied-changes.ts';

/** Forgets what is kept of channels that other processes change in the catalog. */
export interface CatalogFollower {
  /** Looks once; when this returns, nothing is answered from memory that a change has taken away. */
  look(): void;
  /** Looks again and again, so that what was removed goes without a request too. */
  start(): void;
  stop(): void;
}

export interface CatalogFollowerOptions {
  readonly watch: CatalogWatch;
  readonly clock: Clock;
  readonly purge: Pick<Purge, 'apply'>;
  readonly applied: AppliedChanges;
  readonly onBug: (error: unknown) => void;
}

const INTERVAL_MS = 1_000;
/** Of a catalog that says no more what has changed: everything that could come from it. */
const UNKNOWN: Change = { channelIds: 'all', names: new Set(), searches: 'all', includesPictures: false };

export function createCatalogFollower(options: CatalogFollowerOptions): CatalogFollower {
  const { watch, clock, purge, applied, onBug } = options;
  let cancelNext: () => void = () => undefined;
  let isComplete = true;

  async function apply({ position, changes }: ChangesSince): Promise<void> {
    try {
      await Promise.all(changesOf(changes).map((change) => purge.apply(change)));
    } catch (error) {
      // Tried again while this process runs; the next one begins with it.
      isComplete = false;
      if (!(error instanceof RemovalDelayed)) throw error;
    }
    if (isComplete) applied.save({ catalog: position });
  }

  function look(): void {
    const found = watch.findChanges();
    if (found !== undefined) apply(found).catch(onBug);
  }

  function schedule(): void {
    cancelNext = clock.after(INTERVAL_MS, () => {
      look();
      schedule();
    });
  }

  return {
    look,
    start: schedule,
    stop() {
      cancelNext();
      watch.close();
    },
  };
}

/** Of a channel that was replaced the pictures stay: its record says whether they are others. */
function changesOf(changes: ChangesSince['changes']): Change[] {
  if (changes === 'unknown') return [UNKNOWN];
  const { replaced = [], removed = [] } = Object.groupBy(changes, ({ isRemoved }) =>
    isRemoved ? 'removed' : 'replaced',
  );
  return [
    { those: replaced, includesPictures: false },
    { those: removed, includesPictures: true },
  ].flatMap(({ those, includesPictures }) => {
    if (those.length === 0) return [];
    const names = new Set(those.flatMap((each) => each.names));
    const channelIds = new Set(those.map(({ channelId }) => channelId));
    return [changeOfChannels(channelIds, { names, searches: 'all', includesPictures })];
  });
}
