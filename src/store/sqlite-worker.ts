/** The worker thread that uses `cache.db`, so that its calls do not block the event loop. */
import type { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import type { Times } from '../lib/clock.ts';
import { createDisposableDatabase } from '../lib/disposable-database.ts';
import { DamagedFileError, emptyLog, inTransaction } from '../lib/sqlite.ts';
import { notify, serveCalls } from '../lib/worker-thread.ts';
import { checksumOf, findEntryKind, prefixOf } from './keys.ts';
import { addErased, containsChannel, type ErasedEntries, keysOf, type Removal } from './removal.ts';
import { type CacheStatements, prepareSchema, prepareStatements } from './sqlite-schema.ts';
import type { NewEntry, StoredEntry } from './store.ts';

const WRITES_BETWEEN_SHRINKING = 16;
/**
 * Writes of another process take microseconds; only a checkpoint takes longer. Lookups wait for the writes before them, so a
 * write that has to wait longer is dropped: it is only a miss. An erasure is not dropped so easily.
 */
const WRITE_TIMEOUT_MS = 20;
const MAX_WAL_BYTES = 16 * 1024 * 1024;
const ROWS_PER_STEP = 64;
/** These rows take a few milliseconds, during which other calls wait. */
const ROWS_PER_ERASING_STEP = 200;
const MAX_EVICTION_STEPS = 10;
/** The keys of searches are between these texts: the character after the prefix's colon is a semicolon. */
const SEARCHES = { from: prefixOf('search'), to: `${prefixOf('search').slice(0, -1)};` };

/** `maxBytes` limits the pages in use; a single change may exceed it for a moment. */
const { path, maxBytes } = workerData as { readonly path: string; readonly maxBytes: number };
const { use, usePatiently, close } = createDisposableDatabase({
  path,
  prepare,
  waitMs: WRITE_TIMEOUT_MS,
  mayShrink: false,
  onRebuilt: notify,
});
let writes = 0;

const functions = {
  get({ key, ...times }: Times & { key: string }): StoredEntry | undefined {
    return use(times, (statements) => {
      const row = statements.select.get(key, times.nowMs) as (StoredEntry & { checksum: number }) | undefined;
      if (row === undefined) return undefined;
      // SQLite has no page checksums and would return a damaged value.
      if (checksumOf(key, row.value) !== row.checksum) throw new DamagedFileError('an entry has a wrong checksum');
      return { value: row.value, storedAtMs: row.storedAtMs };
    });
  },
  set({ key, entry, ttlMs, ...times }: Times & { key: string; entry: NewEntry; ttlMs: number }) {
    const { value, storedAtMs, leadsTo = null } = entry;
    use(times, (statements) => {
      writes += 1;
      // Before the write, because the disk may be full.
      if (writes % WRITES_BETWEEN_SHRINKING === 1) shrink(statements, times.nowMs);
      statements.upsert.run(key, leadsTo, value, storedAtMs, times.nowMs + ttlMs, checksumOf(key, value));
    });
  },
  /**
   * Removes, of the next searches after this key, those that contain one of the channels. Returns their number, and the last
   * key that was read; `undefined` if there are no more.
   */
  eraseSearchesWith({ channelIds, after, ...times }: Times & { channelIds: readonly string[]; after: string }) {
    return usePatiently(times, (statements) => {
      const ids = new Set(channelIds);
      const rows = statements.selectBetween.all(after || SEARCHES.from, SEARCHES.to, ROWS_PER_ERASING_STEP);
      const found = rows.filter(({ key, value }) => containsChannel(ids, String(key), String(value)));
      for (const { key } of found) statements.removeKey.run(String(key));
      return { erased: found.length, last: rows.at(-1)?.key as string | undefined };
    });
  },
  /** Removes the entries that the step names. */
  eraseStep({ step, ...times }: Times & { step: Removal }): ErasedEntries {
    return usePatiently(times, (statements, db) =>
      inTransaction(db, () => {
        const erased: ErasedEntries = {};
        for (const key of keysOf(step)) count(erased, key, Number(statements.removeKey.run(key).changes));
        for (const channelId of step.channelIds) {
          for (const { key } of statements.removeLeadsTo.all(channelId)) count(erased, String(key), 1);
        }
        return erased;
      }),
    );
  },
  /** Removes the erased data from the write-ahead log too. */
  finishErasing: (times: Times) => usePatiently(times, (_, db) => emptyLog(db)),
};

export type CacheFunctions = typeof functions;

serveCalls(functions, close);

function prepare(db: DatabaseSync): CacheStatements {
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${MAX_WAL_BYTES}`);
  // Deleted data is overwritten with zeros: a channel that was taken down must not remain in free pages.
  db.exec('PRAGMA secure_delete = ON');
  prepareSchema(db);
  return prepareStatements(db);
}

function count(erased: ErasedEntries, key: string, number: number): void {
  const kind = findEntryKind(key);
  if (kind !== undefined) addErased(erased, { [kind]: number });
}

/** Removes some expired entries and, while the file is too large, the entries that expire next. */
function shrink({ removeExpired, removeNextToExpire, pages }: CacheStatements, nowMs: number): void {
  removeExpired.run(nowMs, ROWS_PER_STEP);
  for (let step = 0; step < MAX_EVICTION_STEPS; step += 1) {
    const { used, bytes } = pages.get() as { used: number; bytes: number };
    if (used * bytes <= maxBytes) return;
    removeNextToExpire.run(ROWS_PER_STEP);
  }
}
