import { AppError } from '../domain/errors.ts';
import type { HolderStats } from '../lib/holders.ts';
import { changeBeforeWork, latestChange } from '../lib/work.ts';

/** The current loads: one per key, shared by all callers. */
export interface Loads<T> {
  /** Returns the load that a caller may join. */
  find(key: string, loadId: string): Promise<T> | undefined;
  /**
   * Starts a load, which replaces the current load of the key. It continues after its callers disconnect.
   *
   * @param run its argument returns whether this is still the key's current load
   * @throws AppError `overloaded`
   */
  start(key: string, loadId: string, run: (isLatest: () => boolean) => Promise<T>): Promise<T>;
  /** Resolves when the current load of the key has ended, successfully or not. */
  ended(key: string): Promise<void>;
  stats(): HolderStats;
}

interface PendingLoad<T> {
  readonly loadId: string;
  /** The number of the latest change when the load began. */
  readonly changeBefore: number;
  readonly result: Promise<T>;
}

/** At least one request waits for each load. The upstream's call budget allows far fewer. */
const MAX_LOADS = 10_000;

export function createLoads<T>(): Loads<T> {
  const pending = new Map<string, PendingLoad<T>>();

  return {
    find(key, loadId) {
      const found = pending.get(key);
      // A load that began before a change may return removed data.
      return found?.loadId === loadId && found.changeBefore === latestChange() ? found.result : undefined;
    },

    start(key, loadId, run) {
      if (pending.size >= MAX_LOADS) {
        throw new AppError('overloaded', 'The service is loading too much at the moment. Try again.', {
          retryAfterMs: 1_000,
        });
      }
      const isLatest = () => pending.get(key) === started;
      const started: PendingLoad<T> = { loadId, changeBefore: changeBeforeWork(), result: runRegistered() };
      pending.set(key, started);
      // Callers handle the failure. A load without callers must not end the process.
      started.result.catch(() => undefined);
      return started.result;

      async function runRegistered(): Promise<T> {
        // The load must be registered before its first step, or a second caller would start another.
        await Promise.resolve();
        try {
          return await run(isLatest);
        } finally {
          if (isLatest()) pending.delete(key);
        }
      }
    },

    async ended(key) {
      await pending.get(key)?.result.catch(() => undefined);
    },

    stats: () => ({ entries: pending.size, maxEntries: MAX_LOADS }),
  };
}
