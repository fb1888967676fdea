import type { Runtime } from '../lib/runtime.ts';
import { epochOfWork, withinMs } from '../lib/work.ts';
import type { Removal } from './removal.ts';
import type { ErasableStore, NewEntry, StoredEntry } from './store.ts';

interface FailSoftStoreOptions {
  readonly store: ErasableStore;
  readonly runtime: Pick<Runtime, 'clock' | 'health' | 'holders'>;
  /** A read that takes longer counts as a miss. */
  readonly readTimeoutMs: number;
  /** What is not erased yet. Whoever repeats an erasure may replace several by one that removes at least as much. */
  readonly unfinished: Set<Removal>;
}

/** Writes that wait for a slow disk or Redis must not fill the memory. */
const MAX_WRITES = 10_000;
const MAX_WRITTEN_BYTES = 32 * 1024 * 1024;
const WRITE_OVERHEAD_BYTES = 500;

/**
 * A store whose failures are misses: a broken cache makes the service slower, never wrong. Only `erase` rejects.
 *
 * It stores no results of work that began in an earlier epoch. From the call of `erase` until it has succeeded, if need be
 * in a later call, it is not used, because it may contain removed data. Calls wait for an erasure as long as for a read.
 */
export function createFailSoftStore(options: FailSoftStoreOptions): ErasableStore {
  const { store, readTimeoutMs, unfinished } = options;
  const { isShared = false } = store;
  const { clock, health, holders } = options.runtime;
  /** A full disk can still be read, so a successful read says nothing about writes. */
  const failing = new Set<'reads' | 'writes'>();
  const writes = new Set<Promise<void>>();
  const erasing = new Set<Promise<unknown>>();
  let writtenBytes = 0;

  holders.add('writes to the store', () => ({
    entries: writes.size,
    maxEntries: MAX_WRITES,
    bytes: writtenBytes,
    maxBytes: MAX_WRITTEN_BYTES,
  }));

  function note(what: 'reads' | 'writes', error?: unknown): void {
    const wasFailing = failing.size > 0;
    if (error === undefined) failing.delete(what);
    else failing.add(what);
    const isFailing = failing.size > 0;
    // The connection of a shared store reports its own health.
    if (!isShared && isFailing !== wasFailing) health.report('cache', isFailing ? 'cannot be used' : null, error);
  }

  async function read(key: string): Promise<StoredEntry | undefined> {
    try {
      const reading = store.get(key).then((found) => ({ found }));
      const read = await withinMs(clock, reading, readTimeoutMs);
      if (read === undefined) throw new Error(`no response from the store within ${readTimeoutMs} ms`);
      note('reads');
      return read.found;
    } catch (error) {
      note('reads', error);
      return undefined;
    }
  }

  async function write(key: string, entry: NewEntry, ttlMs: number): Promise<void> {
    if ((await isUsable()) && !epochOfWork().hasEnded) await store.set(key, entry, ttlMs);
  }

  /** Waits for erasures. False if one has failed or takes too long. */
  async function isUsable(): Promise<boolean> {
    if (unfinished.size > 0) await withinMs(clock, Promise.allSettled(erasing), readTimeoutMs);
    return unfinished.size === 0;
  }

  return {
    isShared,
    async get(key) {
      return (await isUsable()) ? read(key) : undefined;
    },
    async set(key, entry, ttlMs) {
      const bytes = WRITE_OVERHEAD_BYTES + 2 * (key.length + entry.value.length);
      if (writes.size >= MAX_WRITES || writtenBytes + bytes > MAX_WRITTEN_BYTES) {
        return note('writes', new Error('too many writes wait for the store'));
      }
      writtenBytes += bytes;
      const writing = write(key, entry, ttlMs)
        .then(
          () => note('writes'),
          (error: unknown) => note('writes', error),
        )
        .finally(() => {
          writes.delete(writing);
          writtenBytes -= bytes;
        });
      writes.add(writing);
      await writing;
    },
    async erase(removal) {
      unfinished.add(removal);
      const erasure = store.erase(removal).finally(() => erasing.delete(erasure));
      erasing.add(erasure);
      const erased = await erasure;
      unfinished.delete(removal);
      return erased;
    },
    async close() {
      await Promise.allSettled(writes);
      await store.close();
    },
  };
}
