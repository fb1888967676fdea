import { AppError } from '../domain/errors.ts';
import type { HolderStats } from '../lib/holders.ts';
import { changeBeforeWork, latestChange } from '../lib/request-context.ts';

/** The loads under way: one for each key, however many ask for it. */
export interface Loads<T> {
  /** The load that a caller may join. */
  find(key: string, loadId: string): Promise<T> | undefined;
  /**
   * Starts a load in place of the one under the key. It goes on when its callers have gone.
   *
   * @param run gets a function that tells whether no other load has taken its place
   * @throws AppError `overloaded`
   */
  start(key: string, loadId: string, run: (isLatest: () => boolean) => Promise<T>): Promise<T>;
  /** Settles when the load under the key has ended, however it ends. */
  ended(key: string): Promise<void>;
  stats(): HolderStats;
}

interface PendingLoad<T> {
  readonly loadId: string;
  /** The latest change when it began. */
  readonly changeBefore: number;
  readonly result: Promise<T>;
}

/** Each keeps a request waiting; upstream's budget allows far fewer. */
const MAX_LOADS = 10_000;

export function createLoads<T>(): Loads<T> {
  const pending = new Map<string, PendingLoad<T>>();

  return {
    find(key, loadId) {
      const found = pending.get(key);
      // A load that began before a change may bring what the change has taken away.
      return found?.loadId === loadId && found.changeBefore === latestChange() ? found.result : undefined;
    },

    start(key, loadId, run) {
      if (pending.size >= MAX_LOADS) {
        throw new AppError('overloaded', 'Too much is being loaded at the moment: please ask again.', {
          retryAfterMs: 1_000,
        });
      }
      const isLatest = () => pending.get(key) === started;
      const started: PendingLoad<T> = { loadId, changeBefore: changeBeforeWork(), result: runRegistered() };
      pending.set(key, started);
      // Whoever waits sees the failure; a load that nobody waits for must not end the process.
      started.result.catch(() => undefined);
      return started.result;

      async function runRegistered(): Promise<T> {
        // The first step must not run before the load is registered, or a second caller would start another.
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
