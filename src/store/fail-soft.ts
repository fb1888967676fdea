import type { Runtime } from '../lib/runtime.ts';
import { changeBeforeWork, latestChange, withinMs } from '../lib/work.ts';
import { type Change, type Changes, concernsEntry } from './changes.ts';
import { channelIdsIn } from './keys.ts';
import type { ErasableStore, StoredEntry } from './store.ts';

interface FailSoftStoreOptions {
  readonly store: ErasableStore;
  readonly runtime: Pick<Runtime, 'clock' | 'health' | 'holders'>;
  readonly changes: Changes;
  /** A read that takes longer counts as a miss. */
  readonly readTimeoutMs: number;
}

/** Writes that wait for a slow disk or Redis must not fill the memory. */
const MAX_WRITES = 10_000;
const MAX_WRITTEN_BYTES = 32 * 1024 * 1024;
const WRITE_OVERHEAD_BYTES = 500;

/**
 * A store whose failures are misses: a broken cache makes the service slower, never wrong. Only `erase` rejects.
 *
 * It neither returns nor stores entries that a change has removed: entries being erased, entries read before the change
 * and returned after it, and results of work that began before it.
 */
export function createFailSoftStore(options: FailSoftStoreOptions): ErasableStore {
  const { store, changes, readTimeoutMs } = options;
  const { isShared = false } = store;
  const { clock, health, holders } = options.runtime;
  /** A full disk can still be read, so a successful read says nothing about writes. */
  const failing = new Set<'reads' | 'writes'>();
  const writes = new Set<Promise<void>>();
  const erasing = new Set<Change>();
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

  return {
    isShared,
    async get(key) {
      const latest = latestChange();
      const erasingBefore = [...erasing];
      const found = await read(key);
      if (found === undefined) return undefined;
      const isRemoved = (change: Change) => concernsEntry(change, key, channelIdsIn(found.value));
      if (erasingBefore.some(isRemoved) || changes.hasSince(latest, isRemoved)) return undefined;
      return found;
    },
    async set(key, entry, ttlMs) {
      const isRemoved = (change: Change) => concernsEntry(change, key, channelIdsIn(entry.value));
      if (changes.hasSince(changeBeforeWork(), isRemoved)) return;
      const bytes = WRITE_OVERHEAD_BYTES + 2 * (key.length + entry.value.length);
      if (writes.size >= MAX_WRITES || writtenBytes + bytes > MAX_WRITTEN_BYTES) {
        return note('writes', new Error('too many writes wait for the store'));
      }
      writtenBytes += bytes;
      const writing = store
        .set(key, entry, ttlMs)
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
    async erase(change, position) {
      erasing.add(change);
      try {
        return await store.erase(change, position);
      } finally {
        erasing.delete(change);
      }
    },
    async close() {
      await Promise.allSettled(writes);
      await store.close();
    },
  };
}
