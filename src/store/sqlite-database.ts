import { rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from '../lib/file-system.ts';
import { DamagedFileError, isDamage, isLossOfAccess, messageOf, prepareSchema } from './sqlite-schema.ts';
import { type CacheTables, openCacheTables } from './sqlite-tables.ts';

interface OpenFile {
  readonly db: DatabaseSync;
  readonly tables: CacheTables;
  /** Those of the latest check. */
  stats: Stats;
}

const RETRY_OPEN_MS = 2_000;
const CHECK_FILE_MS = 1_000;
/** Writes of another process take microseconds; only a checkpoint takes longer. */
const BUSY_TIMEOUT_MS = 500;
/** The check reads a few hundred megabytes per second: with larger files it would delay the first responses. */
const MAX_CHECKED_BYTES = 32 * 1024 * 1024;
const MAX_WAL_BYTES = 16 * 1024 * 1024;

/**
 * A self-healing `cache.db`. Synchronous: use it in a worker thread.
 *
 * @param onRebuilt called when the file was discarded and created again
 */
export function createCacheDatabase(path: string, maxBytes: number, onRebuilt: (reason: string) => void) {
  let file: OpenFile | undefined;
  let openError: Error | undefined;
  let retryOpenAtMs = Number.NEGATIVE_INFINITY;
  let checkFileAtMs = Number.NEGATIVE_INFINITY;

  // By `stat` only: closing a descriptor of the file would release the locks that SQLite holds on it in this process
  // (sqlite.org/howtocorrupt.html, section 2.2).
  function findStats(): Stats | undefined {
    return statSync(path, { throwIfNoEntry: false });
  }

  function openFile(): OpenFile {
    makeDirectory(dirname(path));
    const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${MAX_WAL_BYTES}`);
      // Deleted data is overwritten with zeros: a channel that was taken down must not remain in free pages.
      db.exec('PRAGMA secure_delete = ON');
      prepareSchema(db);
      const stats = statSync(path);
      if (stats.size <= MAX_CHECKED_BYTES) check(db);
      return { db, tables: openCacheTables(db, maxBytes), stats };
    } catch (error) {
      db.close();
      throw error;
    }
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

  /** Deletes the file unless another process has replaced it. */
  function throwAway(inode: number | undefined, reason: string): void {
    if (findStats()?.ino !== inode) return;
    removeFile();
    onRebuilt(reason);
  }

  function removeFile(): void {
    for (const suffix of ['-wal', '-shm', '']) rmSync(`${path}${suffix}`, { force: true });
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
    else onRebuilt('it was deleted or replaced');
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

  return {
    /**
     * Runs an operation. If the file is damaged, it is discarded and the operation runs again on a new file.
     *
     * @throws Error when the file cannot be opened; the next attempt is two seconds later
     */
    use<T>(operation: (tables: CacheTables) => T, monotonicMs: number): T {
      const { tables, stats } = current(monotonicMs);
      try {
        return operation(tables);
      } catch (error) {
        if (isDamage(error)) {
          closeQuietly();
          throwAway(stats.ino, messageOf(error));
          return operation(current(monotonicMs).tables);
        }
        // A read-only connection stays read-only until it is opened again.
        if (isLossOfAccess(error)) {
          closeQuietly();
          refuseUntilRetry(error, monotonicMs);
        }
        throw error;
      }
    },
    /** Deletes the file; the next operation creates a new one. */
    beginAnew(): void {
      closeQuietly();
      removeFile();
    },
    close: closeQuietly,
  };
}

function check(db: DatabaseSync): void {
  const found = db.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  if (found !== 'ok') throw new DamagedFileError(String(found));
}
