import { responseWithinMs } from '../lib/deadlines.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { BackingStore, Store, StoredEntry } from './store.ts';

interface FailSoftStoreOptions {
  readonly store: BackingStore;
  readonly runtime: Pick<Runtime, 'clock' | 'health' | 'metrics'>;
  /** A read that takes longer counts as a miss. */
  readonly readTimeoutMs: number;
}

export interface FailSoftStore extends Store {
  /** Tries reads or writes that fail, so that their recovery needs no request. */
  retry(): Promise<void>;
}

/** Writes that wait for a slow disk or for Redis must not fill the memory. */
const MAX_PENDING_WRITES = 10_000;
const MAX_PENDING_BYTES = 32 * 1024 * 1024;
const WRITE_OVERHEAD_BYTES = 500;
const RETRY_KEY = 'retry';
const RETRY_KEPT_MS = 1_000;

/** A store whose failures are misses: a broken cache makes the service slower, never wrong. */
export function createFailSoftStore({ store, readTimeoutMs, runtime }: FailSoftStoreOptions): FailSoftStore {
  const { isShared = false } = store;
  const { clock, health, metrics } = runtime;
  /** A full disk can still be read, so a successful read says nothing about writes. */
  const failing = new Set<'reads' | 'writes'>();
  const writes = new Set<Promise<void>>();
  let pendingBytes = 0;

  addBoundGauges(metrics, 'pennant_store_writes', 'writes to the store', () => ({
    entries: writes.size,
    maxEntries: MAX_PENDING_WRITES,
    bytes: pendingBytes,
    maxBytes: MAX_PENDING_BYTES,
  }));

  function reportResult(what: 'reads' | 'writes', error?: unknown): void {
    const wasFailing = failing.size > 0;
    if (error === undefined) failing.delete(what);
    else failing.add(what);
    const isFailing = failing.size > 0;
    // The connection of a shared store reports its own health.
    if (!isShared && isFailing !== wasFailing) health.report('cache', isFailing ? 'cannot be used' : null, error);
  }

  async function read(key: string): Promise<StoredEntry | undefined> {
    try {
      const found = await responseWithinMs(clock, store.get(key), readTimeoutMs, 'the store');
      reportResult('reads');
      return found;
    } catch (error) {
      reportResult('reads', error);
      throw error;
    }
  }

  const get = (key: string) => read(key).catch(() => undefined);

  const guarded: FailSoftStore = {
    isShared,
    get,
    read,
    async set(key, entry, ttlMs) {
      const bytes = WRITE_OVERHEAD_BYTES + 2 * (key.length + entry.value.length);
      if (writes.size >= MAX_PENDING_WRITES || pendingBytes + bytes > MAX_PENDING_BYTES) {
        return reportResult('writes', new Error('too many writes wait for the store'));
      }
      pendingBytes += bytes;
      const writing = store
        .set(key, entry, ttlMs)
        .then(
          () => reportResult('writes'),
          (error: unknown) => reportResult('writes', error),
        )
        .finally(() => {
          writes.delete(writing);
          pendingBytes -= bytes;
        });
      writes.add(writing);
      await writing;
    },
    async retry() {
      if (failing.has('reads')) await get(RETRY_KEY);
      if (failing.has('writes')) await guarded.set(RETRY_KEY, { value: '', storedAtMs: clock.now() }, RETRY_KEPT_MS);
    },
    async close() {
      await Promise.allSettled(writes);
      await store.close();
    },
  };
  return guarded;
}
