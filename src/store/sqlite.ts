import { join } from 'node:path';
import { type Clock, systemClock, timesOf } from '../lib/clock.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import { filesOfDatabase } from '../lib/sqlite.ts';
import { createWorkerThread, siblingModule } from '../lib/worker-thread.ts';
import { addErased, type ErasedEntries, stepsOf } from './removal.ts';
import type { CacheFunctions } from './sqlite-worker.ts';
import type { BackingStore, StoreDriver } from './store.ts';

export type SqliteStoreEvent =
  /** The file was damaged, deleted or of another layout, and was created again. */
  | { readonly kind: 'rebuilt'; readonly reason: string }
  /** The worker thread ended unexpectedly; the next call starts a new one. */
  | { readonly kind: 'worker-ended'; readonly error: Error };

interface SqliteStoreOptions {
  readonly path: string;
  /** Size limit of the file; the entries that expire next are removed first. */
  readonly maxBytes: number;
  readonly clock?: Clock;
  readonly onEvent: (event: SqliteStoreEvent) => void;
}

/** A thread that fails at start must not be started for every request. */
const RESTART_MS = 1_000;
/** Pending writes must not fill the memory while a disk hangs. */
const MAX_PENDING_CALLS = 10_000;

/**
 * A store in one SQLite file. The file may be deleted at any time, and a damaged file is created again. Several
 * processes may use the same file. Calls reject with `Error` while the file cannot be opened or written.
 */
export function createSqliteStore({ path, maxBytes, clock = systemClock, onEvent }: SqliteStoreOptions) {
  const thread = createWorkerThread<CacheFunctions>({
    name: 'cache',
    module: siblingModule(import.meta.url, 'sqlite-worker'),
    workerData: { path, maxBytes },
    maxCalls: MAX_PENDING_CALLS,
    restartMs: RESTART_MS,
    clock,
    onEnded: (error) => onEvent({ kind: 'worker-ended', error }),
    onNotice: (notice) => onEvent({ kind: 'rebuilt', reason: String(notice) }),
  });
  const times = () => timesOf(clock);

  async function eraseSearchesWith(channelIds: readonly string[]): Promise<ErasedEntries> {
    const total: ErasedEntries = {};
    for (let after: string | undefined = ''; after !== undefined; ) {
      const { erased, last }: { erased: number; last: string | undefined } = await thread.call('eraseSearchesWith', {
        channelIds,
        after,
        ...times(),
      });
      addErased(total, { search: erased });
      after = last;
    }
    return total;
  }

  return {
    get: (key) => thread.call('get', { key, ...times() }),
    set: (key, entry, ttlMs) => thread.call('set', { key, entry, ttlMs, ...times() }),
    async erase(removal) {
      const erased = await eraseSearchesWith(removal.channelIds);
      for (const step of stepsOf(removal)) addErased(erased, await thread.call('eraseStep', { step, ...times() }));
      // Also if there was none: an earlier erasure may have failed to do it.
      await thread.call('finishErasing', times());
      return erased;
    },
    /** Counts the pending calls. */
    stats: thread.stats,
    close: thread.close,
  } satisfies BackingStore & Pick<typeof thread, 'stats'>;
}

const MAX_BYTES = 512 * 2 ** 20;

/** The store in `cache.db` of the data directory. */
export function createSqliteDriver(dataDir: string): StoreDriver {
  const path = databasePath(dataDir);
  return {
    where: path,
    files: filesOfDatabase(path),
    check: async () => ({ level: 'ok', text: 'cache.db is usable' }),
    open({ runtime: { clock, failureLog, metrics } }) {
      const store = createSqliteStore({
        path,
        maxBytes: MAX_BYTES,
        clock,
        onEvent: (event) =>
          failureLog.report({ level: 'warn', key: `cache.db ${event.kind}`, message: 'cache.db', fields: event }),
      });
      addBoundGauges(metrics, 'pennant_cache_database_calls', 'calls to cache.db', store.stats);
      return store;
    },
  };
}

export function databasePath(dataDir: string): string {
  return join(dataDir, 'cache.db');
}
