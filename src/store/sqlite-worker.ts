/** The worker thread that uses `cache.db`, so that its calls do not block the event loop. */
import { rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { makeDirectory } from '../lib/file-system.ts';
import { notify, serveCalls } from '../lib/worker-thread.ts';
import { checksumOf, findEntryKind, prefixOf } from './keys.ts';
import { addErased, containsChannel, type ErasedEntries, hasAny, keysOf, type Removal } from './removal.ts';
import {
  type CacheStatements,
  DamagedFileError,
  isDamage,
  isLossOfAccess,
  messageOf,
  prepareSchema,
  prepareStatements,
} from './sqlite-schema.ts';
import type { BackingStore, Erasure, StoredEntry } from './store.ts';

/** The caller's clock: tests can move it. */
export interface Times {
  readonly nowMs: number;
  readonly monotonicMs: number;
}

interface EraseStep {
  readonly step: Removal;
  readonly isPurge: boolean;
  /** Although nothing is removed in this step. */
  readonly mustRaise: boolean;
}

interface OpenFile {
  readonly db: DatabaseSync;
  readonly statements: CacheStatements;
  /** Those of the latest check. */
  stats: Stats;
}

const WRITES_BETWEEN_SHRINKING = 16;
const RETRY_OPEN_MS = 2_000;
const CHECK_FILE_MS = 1_000;
/**
 * Writes of another process take microseconds; only a checkpoint takes longer. Look-ups wait for the writes before them, so a
 * write that has to wait longer is dropped: it is only a miss. An erasure is not dropped so easily.
 */
const WRITE_TIMEOUT_MS = 20;
/** Also for opening the file. */
const ERASE_TIMEOUT_MS = 500;
/** The check reads a few hundred megabytes per second: with larger files it would delay the first responses. */
const MAX_CHECKED_BYTES = 32 * 1024 * 1024;
const MAX_WAL_BYTES = 16 * 1024 * 1024;
const ROWS_PER_STEP = 64;
/** About the number of rows that takes a few milliseconds, during which other calls wait. */
const ROWS_PER_ERASING_STEP = 200;
const MAX_EVICTION_STEPS = 10;
/** Between which keys those of the searches are: the character after the prefix's colon is a semicolon. */
const SEARCHES = { from: prefixOf('search'), to: `${prefixOf('search').slice(0, -1)};` };

/** `maxBytes` limits the pages in use; a single change may exceed it for a moment. */
const { path, maxBytes } = workerData as { readonly path: string; readonly maxBytes: number };
let file: OpenFile | undefined;
let openError: Error | undefined;
let retryOpenAtMs = Number.NEGATIVE_INFINITY;
let checkFileAtMs = Number.NEGATIVE_INFINITY;
let writes = 0;

const functions = {
  get({ key, ...times }: Times & { key: string }): StoredEntry | undefined {
    return use(times, ({ statements }) => {
      const row = statements.select.get(key, times.nowMs) as (StoredEntry & { checksum: number }) | undefined;
      if (row === undefined) return undefined;
      // SQLite has no page checksums and would return a damaged value.
      if (checksumOf(key, row.value) !== row.checksum) throw new DamagedFileError('an entry has a wrong checksum');
      return { value: row.value, storedAtMs: row.storedAtMs };
    });
  },
  set({
    key,
    entry,
    ttlMs,
    ...times
  }: Times & { key: string; entry: Parameters<BackingStore['set']>[1]; ttlMs: number }) {
    const { value, storedAtMs, leadsTo = null, epoch } = entry;
    use(times, ({ statements }) => {
      writes += 1;
      // Before the write, because the disk may be full.
      if (writes % WRITES_BETWEEN_SHRINKING === 1) shrink(statements, times.nowMs);
      statements.upsert.run(key, leadsTo, value, storedAtMs, times.nowMs + ttlMs, checksumOf(key, value), epoch);
    });
  },
  readEpoch: (times: Times): string => use(times, ({ statements }) => readEpoch(statements)),
  /** Removes some searches. Returns their number; 0 if there are none. */
  eraseSearches: (times: Times): number =>
    use(times, ({ db, statements }) => whileWaiting(db, () => removeSearches(statements))),
  /**
   * Removes, of the next searches after this key, those that contain one of the channels. Returns their number, and the last
   * key that was read; `undefined` if there are no more.
   */
  eraseSearchesWith({ channelIds, after, ...times }: Times & { channelIds: readonly string[]; after: string }) {
    return use(times, ({ db, statements }) =>
      whileWaiting(db, () => {
        const ids = new Set(channelIds);
        const rows = statements.selectBetween.all(after || SEARCHES.from, SEARCHES.to, ROWS_PER_ERASING_STEP);
        const found = rows.filter(({ key, value }) => containsChannel(ids, String(key), String(value)));
        for (const { key } of found) statements.removeKey.run(String(key));
        return { erased: found.length, last: rows.at(-1)?.key as string | undefined };
      }),
    );
  },
  /** Removes the entries that the step names and, in a purge, the last searches, and raises the number of the epoch. */
  eraseStep({ step, isPurge, mustRaise, ...times }: Times & EraseStep): Erasure {
    return use(times, ({ db, statements }) =>
      whileWaiting(db, () =>
        inTransaction(db, () => {
          const erased: ErasedEntries = {};
          for (const key of keysOf(step)) count(erased, key, Number(statements.removeKey.run(key).changes));
          for (const channelId of step.channelIds) {
            for (const { key } of statements.removeLeadsTo.all(channelId)) count(erased, String(key), 1);
          }
          for (let removed = -1; isPurge && removed !== 0; addErased(erased, { search: removed }))
            removed = removeSearches(statements);
          if (mustRaise || hasAny(erased)) statements.raiseEpoch.run();
          return { erased, epoch: readEpoch(statements) };
        }),
      ),
    );
  },
  /** Removes the erased data from the write-ahead log too. */
  finishErasing: (times: Times) => use(times, ({ db }) => db.exec('PRAGMA wal_checkpoint(TRUNCATE)')),
  /** Deletes the file; the next call creates a new one. */
  eraseAll(): void {
    closeQuietly();
    removeFile();
  },
};

export type CacheFunctions = typeof functions;

serveCalls(functions, closeQuietly);

/**
 * Runs an operation. If the file is damaged, it is discarded and the operation runs again on a new file.
 *
 * @throws Error when the file cannot be opened; the next attempt is two seconds later
 */
function use<T>({ monotonicMs }: Times, operation: (opened: OpenFile) => T): T {
  const opened = current(monotonicMs);
  try {
    return operation(opened);
  } catch (error) {
    if (isDamage(error)) {
      closeQuietly();
      throwAway(opened.stats.ino, messageOf(error));
      return operation(current(monotonicMs));
    }
    // A read-only connection stays read-only until it is opened again.
    if (isLossOfAccess(error)) {
      closeQuietly();
      refuseUntilRetry(error, monotonicMs);
    }
    throw error;
  }
}

function current(monotonicMs: number): OpenFile {
  if (file !== undefined && monotonicMs >= checkFileAtMs) {
    checkFileAtMs = monotonicMs + CHECK_FILE_MS;
    closeIfReplaced(file);
  }
  if (file !== undefined) return file;
  if (monotonicMs < retryOpenAtMs) throw openError;
  try {
    file = openOrRebuild();
    return file;
  } catch (error) {
    throw refuseUntilRetry(error, monotonicMs);
  }
}

function refuseUntilRetry(cause: unknown, monotonicMs: number): Error {
  retryOpenAtMs = monotonicMs + RETRY_OPEN_MS;
  openError = new Error(`The cache ${path} cannot be used: ${messageOf(cause)}.`, { cause });
  return openError;
}

/** SQLite does not notice that its file was deleted or truncated while the pages are in its memory. */
function closeIfReplaced(opened: OpenFile): void {
  const found = findStats();
  const isSameFile = found?.ino === opened.stats.ino;
  if (isSameFile && found.size >= opened.stats.size) {
    opened.stats = found;
    return;
  }
  closeQuietly();
  if (isSameFile) throwAway(found.ino, 'it was cut short');
  else notify('it was deleted or replaced');
}

// By `stat` only: closing a descriptor of the file would release the locks that SQLite holds on it in this process
// (sqlite.org/howtocorrupt.html, section 2.2).
function findStats(): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function openOrRebuild(): OpenFile {
  const inode = findStats()?.ino;
  try {
    return openFile();
  } catch (error) {
    if (!isDamage(error)) throw error;
    throwAway(inode, messageOf(error));
    return openFile();
  }
}

function openFile(): OpenFile {
  makeDirectory(dirname(path));
  const db = new DatabaseSync(path, { timeout: ERASE_TIMEOUT_MS });
  try {
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${MAX_WAL_BYTES}`);
    // Deleted data is overwritten with zeros: a channel that was taken down must not remain in free pages.
    db.exec('PRAGMA secure_delete = ON');
    prepareSchema(db);
    const stats = statSync(path);
    const found = stats.size <= MAX_CHECKED_BYTES ? db.prepare('PRAGMA quick_check(1)').get()?.quick_check : 'ok';
    if (found !== 'ok') throw new DamagedFileError(String(found));
    waitForWriters(db, WRITE_TIMEOUT_MS);
    return { db, statements: prepareStatements(db), stats };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** An erasure is not dropped because another process writes: it waits for longer. */
function whileWaiting<T>(db: DatabaseSync, erase: () => T): T {
  waitForWriters(db, ERASE_TIMEOUT_MS);
  try {
    return erase();
  } finally {
    waitForWriters(db, WRITE_TIMEOUT_MS);
  }
}

function inTransaction<T>(db: DatabaseSync, change: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = change();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite has ended the transaction itself if the disk is full.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function readEpoch({ epoch }: CacheStatements): string {
  return String(epoch.get()?.epoch);
}

function removeSearches({ removeBetween }: CacheStatements): number {
  return Number(removeBetween.run(SEARCHES.from, SEARCHES.to, ROWS_PER_ERASING_STEP).changes);
}

function count(erased: ErasedEntries, key: string, number: number): void {
  const kind = findEntryKind(key);
  if (kind !== undefined) addErased(erased, { [kind]: number });
}

/** How long a statement waits for a write of another process. */
function waitForWriters(db: DatabaseSync, ms: number): void {
  db.exec(`PRAGMA busy_timeout = ${ms}`);
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

/** Deletes the file unless another process has replaced it. */
function throwAway(inode: number | undefined, reason: string): void {
  if (findStats()?.ino !== inode) return;
  removeFile();
  notify(reason);
}

function removeFile(): void {
  for (const suffix of ['-wal', '-shm', '']) rmSync(`${path}${suffix}`, { force: true });
}

/** Closing includes a checkpoint, which may fail on a damaged file. */
function closeQuietly(): void {
  try {
    file?.db.close();
  } catch (error) {
    if (!isDamage(error)) throw error;
  } finally {
    file = undefined;
  }
}
