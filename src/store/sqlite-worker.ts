/** The worker thread that uses `cache.db`, so that its calls do not block the event loop. */
import { workerData } from 'node:worker_threads';
import { notify, serveCalls } from '../lib/worker-thread.ts';
import type { Change } from './changes.ts';
import { createCacheDatabase } from './sqlite-database.ts';
import type { CacheTables, ErasingPlace } from './sqlite-tables.ts';
import type { StoredEntry } from './store.ts';

/** The caller's clock: tests can move it. */
export interface Times {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

const WRITES_BETWEEN_SHRINKING = 16;

const { path, maxBytes } = workerData as { readonly path: string; readonly maxBytes: number };
const database = createCacheDatabase(path, maxBytes, notify);
let writes = 0;

function use<T>({ monotonicMs }: Times, work: (tables: CacheTables) => T): T {
  return database.use(work, monotonicMs);
}

const functions = {
  get: ({ key, ...times }: Times & { key: string }) => use(times, (tables) => tables.get(key, times.nowMs)),
  set({ key, entry, ttlMs, ...times }: Times & { key: string; entry: StoredEntry; ttlMs: number }): void {
    use(times, (tables) => {
      writes += 1;
      // Before the write, because the disk may be full.
      if (writes % WRITES_BETWEEN_SHRINKING === 1) tables.shrink(times.nowMs);
      tables.set(key, entry, times.nowMs + ttlMs);
    });
  },
  /** One step. */
  erase: ({ change, from, ...times }: Times & { change: Change; from: ErasingPlace | undefined }) =>
    use(times, (tables) => tables.erase(change, from)),
  finishErasing: (times: Times) => use(times, (tables) => tables.finishErasing()),
  eraseAll: () => database.beginAnew(),
};

export type CacheFunctions = typeof functions;

serveCalls(functions, () => database.close());
