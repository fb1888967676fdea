import { AppError } from '../domain/errors.ts';
import type { BoundedStats } from '../lib/metrics.ts';

interface PendingLoad<T> {
  readonly loadId: string;
  readonly result: Promise<T>;
}

/** At least one request waits for each load. The upstream's call budget allows far fewer. */
const MAX_LOADS = 10_000;

/** The current loads: one per key, shared by all callers. */
export function createLoads<T>() {
  const pending = new Map<string, PendingLoad<T>>();
  const isLatest = (key: string, load: PendingLoad<T>) => pending.get(key) === load;

  return {
    /** Returns the load that a caller may join. */
    find(key: string, loadId: string): Promise<T> | undefined {
      const found = pending.get(key);
      return found?.loadId === loadId ? found.result : undefined;
    },

    /**
     * Starts a load, which replaces the current load of the key. It continues after its callers disconnect.
     *
     * @param run its argument returns whether this is still the key's current load
     * @throws AppError `overloaded`
     */
    start(key: string, loadId: string, run: (isLatest: () => boolean) => Promise<T>): Promise<T> {
      if (pending.size >= MAX_LOADS) {
        throw new AppError('overloaded', 'The service is loading too much at the moment. Try again.', {
          retryAfterMs: 1_000,
        });
      }
      // The load must be registered before its first step, or a second caller would start another.
      const result: Promise<T> = Promise.resolve()
        .then(() => run(() => isLatest(key, load)))
        .finally(() => {
          if (isLatest(key, load)) pending.delete(key);
        });
      const load: PendingLoad<T> = { loadId, result };
      pending.set(key, load);
      // Callers handle the failure. A load without callers must not end the process.
      result.catch(() => undefined);
      return result;
    },

    /** Resolves when the current load of the key has ended, successfully or not. */
    async ended(key: string): Promise<void> {
      await pending.get(key)?.result.catch(() => undefined);
    },

    stats: (): BoundedStats => ({ entries: pending.size, maxEntries: MAX_LOADS }),
  };
}
