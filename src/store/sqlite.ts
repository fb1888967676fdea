import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { HolderStats } from '../lib/holders.ts';
import { cleanThreadOptions } from '../lib/worker-thread.ts';
import { isEverything } from './changes.ts';
import type { ErasingPlace, ErasingStep, Operation, Reply, Request, Result, WorkerOptions } from './sqlite-messages.ts';
import type { ErasableStore, StoredEntry } from './store.ts';

export type SqliteStoreEvent =
  /** The file was damaged, deleted or of another layout, and has been begun anew. */
  | { readonly kind: 'rebuilt'; readonly reason: string }
  /** The worker thread ended by itself; the next call starts another. */
  | { readonly kind: 'worker-ended'; readonly error: Error };

export interface SqliteStoreOptions {
  readonly path: string;
  /** Of the file; entries that would expire next go first. */
  readonly maxBytes: number;
  readonly clock?: Clock;
  readonly onEvent: (event: SqliteStoreEvent) => void;
}

export interface SqliteStore extends ErasableStore {
  /** Calls that its thread has not answered. */
  stats(): HolderStats;
}

/** A thread that ends at once when it is started must not be started for every request. */
const RESTART_MS = 1_000;
/** A disk that hangs must not fill the memory with what should be written to it. */
const MAX_PENDING_CALLS = 10_000;

interface PendingCall {
  resolve(result: Result): void;
  reject(error: Error): void;
}

/**
 * A store in one SQLite file that may be thrown away at any time, and is rebuilt by itself when it is damaged. Several
 * processes may use the same file. Calls reject with `Error` while the file cannot be opened or written.
 *
 * A thread and a message port of our own: a call takes a third of what a pool's bookkeeping (piscina 5) adds to it.
 */
export function createSqliteStore(options: SqliteStoreOptions): SqliteStore {
  const { path, maxBytes, clock = systemClock, onEvent } = options;
  const pending = new Map<number, PendingCall>();
  let worker: Worker | undefined;
  let nextId = 0;
  let isClosed = false;
  let restartAtMs = Number.NEGATIVE_INFINITY;

  function startWorker(): Worker {
    const workerData: WorkerOptions = { path, maxBytes };
    const started = new Worker(workerUrl(), { name: 'cache', workerData, ...cleanThreadOptions() });
    started.on('message', handleReply);
    started.on('error', (error: Error) => handleEnd(started, error));
    started.on('exit', (code) => handleEnd(started, new Error(`The cache's thread ended with code ${code}.`)));
    return started;
  }

  function handleReply(reply: Reply): void {
    if (reply.kind === 'rebuilt') {
      onEvent(reply);
      return;
    }
    const call = pending.get(reply.id);
    pending.delete(reply.id);
    if (reply.kind === 'done') call?.resolve(reply.result);
    else call?.reject(new Error(reply.message));
  }

  function handleEnd(ended: Worker, error: Error): void {
    if (worker !== ended) return;
    worker = undefined;
    restartAtMs = clock.monotonic() + RESTART_MS;
    const calls = [...pending.values()];
    pending.clear();
    for (const call of calls) call.reject(error);
    if (!isClosed) onEvent({ kind: 'worker-ended', error });
  }

  function post(operation: Operation): number {
    worker ??= startWorker();
    const id = nextId;
    nextId += 1;
    worker.postMessage({ id, operation, nowMs: clock.now(), monotonicMs: clock.monotonic() } satisfies Request);
    return id;
  }

  function call(operation: Operation): Promise<Result> {
    if (isClosed) return Promise.reject(new Error('The cache is closed.'));
    if (worker === undefined && clock.monotonic() < restartAtMs) {
      return Promise.reject(new Error("The cache's thread has ended and is not yet started again."));
    }
    if (pending.size >= MAX_PENDING_CALLS) return Promise.reject(new Error('Too many calls wait for the cache.'));
    return new Promise((resolve, reject) => {
      pending.set(post(operation), { resolve, reject });
    });
  }

  return {
    async get(key) {
      return (await call({ name: 'get', key })) as StoredEntry | undefined;
    },
    async set(key, entry, ttlMs) {
      await call({ name: 'set', key, entry, ttlMs });
    },
    async delete(key) {
      await call({ name: 'delete', key });
    },
    async erase(change) {
      if (isEverything(change)) {
        await call({ name: 'erase-all' });
        return [];
      }
      const keys: string[] = [];
      let from: ErasingPlace | undefined;
      do {
        const step = (await call({ name: 'erase', change, from })) as ErasingStep;
        keys.push(...step.erasedKeys);
        from = step.next;
      } while (from !== undefined);
      await call({ name: 'finish-erasing' });
      return keys;
    },
    stats: () => ({ entries: pending.size, maxEntries: MAX_PENDING_CALLS }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      const ending = worker;
      if (ending === undefined) return;
      post({ name: 'close' });
      await once(ending, 'exit');
    },
  };
}

/** The worker lies beside this file and has its extension, whether that is the source or a build. */
function workerUrl(): URL {
  return new URL(`./sqlite-worker${extname(import.meta.filename)}`, import.meta.url);
}
