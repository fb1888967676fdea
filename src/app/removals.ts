import type { Clock } from '../lib/clock.ts';
import type { Removed } from '../services/purge.ts';
import { createRemovals, type RemovalPart, type Removals } from '../services/removals.ts';
import { type Announced, type Change, mergeChanges } from '../store/changes.ts';
import { isLater, START } from '../store/shared-changes.ts';
import type { PartStates } from './component-health.ts';
import type { Stores } from './stores.ts';

const NOTHING: Removed = { keys: [], files: 0, fileBytes: 0 };

/** Removes changes from everything that is kept: here, and with Redis on all instances. */
export function createStoreRemovals(stores: Stores, clock: Clock, states: PartStates): Removals<Removed> {
  const { changes, store, pictures, sharedChanges, sharedPictures } = stores;

  const memory: RemovalPart<Removed> = {
    name: 'memory',
    async remove() {
      await changes.sweep();
      return NOTHING;
    },
  };
  const files: RemovalPart<Removed> = {
    name: 'the pictures on disk',
    async remove(announced) {
      const erased = await pictures.erase(merged(announced));
      return { ...NOTHING, files: erased.files, fileBytes: erased.bytes };
    },
  };
  const database: RemovalPart<Removed> = {
    name: 'cache.db',
    remove: async (announced) => ({ ...NOTHING, keys: await store.erase(merged(announced)) }),
  };
  const redis: RemovalPart<Removed> = {
    name: 'Redis',
    async remove(announced) {
      const own = announced.filter(({ isOwn }) => isOwn);
      if (own.length === 0) return NOTHING;
      // First the others: what they have begun would be stored behind what is erased.
      for (const each of own) if (each.position === undefined) await sharedChanges?.publish(each);
      const change = merged(own);
      const [keys] = await Promise.all([store.erase(change, latestPosition(own)), sharedPictures?.erase(change)]);
      return { ...NOTHING, keys };
    },
  };

  let isWaiting = false;
  return createRemovals({
    clock,
    parts: [memory, files, sharedChanges === undefined ? database : redis],
    onStateChange(waiting, error) {
      if (waiting.length > 0) {
        const where = waiting.join(' and ');
        states.report(
          'removal',
          `what was purged or taken down is still in ${where}; tried again until it is gone`,
          error,
        );
      } else if (isWaiting) {
        states.report('removal', null);
      }
      isWaiting = waiting.length > 0;
    },
  });
}

function merged(announced: readonly Announced[]): Change {
  return announced.map(({ change }) => change).reduce(mergeChanges);
}

function latestPosition(announced: readonly Announced[]): string {
  const positions = announced.map(({ position = START }) => position);
  return positions.reduce((latest, position) => (isLater(position, latest) ? position : latest));
}
