import { rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Times } from './clock.ts';
import { makeDirectory } from './file-system.ts';
import { DamagedFileError, filesOfDatabase, isDamage, isLossOfAccess, messageOf } from './sqlite.ts';

interface DisposableDatabaseOptions<Prepared> {
  readonly path: string;
  /**
   * Sets up an opened file, and creates its tables if it is empty.
   *
   * @throws DamagedFileError for a file of another version
   */
  readonly prepare: (db: DatabaseSync) => Prepared;
  /** How long a statement waits for a write of another process, in milliseconds. */
  readonly waitMs: number;
  /** False: a file that has become smaller was cut short. True: it may become smaller, so only damage shows that it was cut. */
  readonly mayShrink: boolean;
  /** Called when the file was damaged, deleted or replaced and is created again. */
  readonly onRebuilt: (reason: string) => void;
}

/**
 * A SQLite file with data that may be lost at any time, for one thread. It may be deleted while it is open, and is deleted and
 * created again when it is damaged. Other processes may use the same file.
 */
interface DisposableDatabase<Prepared> {
  /**
   * Runs an operation. If the file is damaged, it runs again on a new file.
   *
   * @throws Error when the file cannot be opened; the next attempt is two seconds later
   */
  use<T>(times: Pick<Times, 'monotonicMs'>, operation: Operation<Prepared, T>): T;
  /** Like `use`, but the statements wait up to half a second for a write of another process. */
  usePatiently<T>(times: Pick<Times, 'monotonicMs'>, operation: Operation<Prepared, T>): T;
  close(): void;
}

type Operation<Prepared, T> = (prepared: Prepared, db: DatabaseSync) => T;

const RETRY_OPEN_MS = 2_000;
const CHECK_FILE_MS = 1_000;
/** How long a statement of `usePatiently` waits, and the opening of the file. */
const PATIENT_WAIT_MS = 500;
/** The check reads a few hundred megabytes per second: with larger files it would delay the first responses. */
const MAX_CHECKED_BYTES = 32 * 1024 * 1024;

interface OpenFile<Prepared> {
  readonly db: DatabaseSync;
  readonly prepared: Prepared;
  /** The state of the file at the latest check. */
  stats: Stats;
}

export function createDisposableDatabase<Prepared>(
  options: DisposableDatabaseOptions<Prepared>,
): DisposableDatabase<Prepared> {
  const { path, prepare, waitMs, mayShrink, onRebuilt } = options;
  let file: OpenFile<Prepared> | undefined;
  let openError: Error | undefined;
  let retryOpenAtMs = Number.NEGATIVE_INFINITY;
  let checkFileAtMs = Number.NEGATIVE_INFINITY;

  function current(monotonicMs: number): OpenFile<Prepared> {
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
    openError = new Error(`The cache ${path} cannot be used: ${messageOf(cause)}`, { cause });
    return openError;
  }

  /** SQLite does not notice that its file was deleted or truncated while the pages are in its memory. */
  function closeIfReplaced(opened: OpenFile<Prepared>): void {
    const found = findStats();
    const isSameFile = found?.ino === opened.stats.ino;
    if (isSameFile && (mayShrink || found.size >= opened.stats.size)) {
      opened.stats = found;
      return;
    }
    closeQuietly();
    if (isSameFile) deleteUnlessReplaced(found.ino, 'it was cut short');
    else onRebuilt('it was deleted or replaced');
  }

  // By `stat` only: closing a descriptor of the file would release the locks that SQLite holds on it in this process
  // (sqlite.org/howtocorrupt.html, section 2.2).
  function findStats(): Stats | undefined {
    return statSync(path, { throwIfNoEntry: false });
  }

  function openOrRebuild(): OpenFile<Prepared> {
    const inode = findStats()?.ino;
    try {
      return openFile();
    } catch (error) {
      if (!isDamage(error)) throw error;
      deleteUnlessReplaced(inode, messageOf(error));
      return openFile();
    }
  }

  function openFile(): OpenFile<Prepared> {
    makeDirectory(dirname(path));
    const db = new DatabaseSync(path, { timeout: PATIENT_WAIT_MS });
    try {
      const prepared = prepare(db);
      const stats = statSync(path);
      const found = stats.size <= MAX_CHECKED_BYTES ? db.prepare('PRAGMA quick_check(1)').get()?.quick_check : 'ok';
      if (found !== 'ok') throw new DamagedFileError(String(found));
      setBusyTimeout(db, waitMs);
      return { db, prepared, stats };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Deletes the file unless another process has replaced it. */
  function deleteUnlessReplaced(inode: number | undefined, reason: string): void {
    if (findStats()?.ino !== inode) return;
    removeFile();
    onRebuilt(reason);
  }

  function removeFile(): void {
    // The database last: its log would belong to the next one.
    for (const file of filesOfDatabase(path).reverse()) rmSync(file, { force: true });
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

  function use<T>({ monotonicMs }: Pick<Times, 'monotonicMs'>, operation: Operation<Prepared, T>): T {
    const { db, prepared, stats } = current(monotonicMs);
    try {
      return operation(prepared, db);
    } catch (error) {
      if (isDamage(error)) {
        closeQuietly();
        deleteUnlessReplaced(stats.ino, messageOf(error));
        const again = current(monotonicMs);
        return operation(again.prepared, again.db);
      }
      // A read-only connection stays read-only until it is opened again.
      if (isLossOfAccess(error)) {
        closeQuietly();
        refuseUntilRetry(error, monotonicMs);
      }
      throw error;
    }
  }

  return {
    use,

    usePatiently: (times, operation) =>
      use(times, (prepared, db) => {
        setBusyTimeout(db, PATIENT_WAIT_MS);
        try {
          return operation(prepared, db);
        } finally {
          setBusyTimeout(db, waitMs);
        }
      }),

    close: closeQuietly,
  };
}

function setBusyTimeout(db: DatabaseSync, ms: number): void {
  db.exec(`PRAGMA busy_timeout = ${ms}`);
}
