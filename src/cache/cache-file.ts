import { rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { createDirectory } from '../lib/file-system.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Runtime } from '../lib/runtime.ts';
import { DamagedFileError, filesOfDatabase, inTransaction, isDamage, isLossOfAccess } from '../lib/sqlite.ts';

export function cachePath(dataDir: string): string {
  return join(dataDir, 'cache.db');
}

/** Prepares a statement, once for an opened file. */
export type Sql = (text: string) => StatementSync;

interface CacheFileOptions {
  readonly path: string;
  /** `CREATE` statements of all tables. A file that was created with others is deleted and created again. */
  readonly schema: string;
  readonly runtime: Pick<Runtime, 'failureLog' | 'health'>;
}

const PAGE_BYTES = 16_384;
const LOCK_WAIT_MS = 20;
/** A checkpoint copies this many pages, and takes a few milliseconds. */
const LOG_PAGES = 256;

/** Moving these pages takes a few milliseconds. */
const PAGES_PER_STEP = 64;

/**
 * `secure_delete = FAST`: deleted rows are overwritten with zeros, but not pages that become free: `wipeFreePages` removes these.
 * Always, because a removal cannot find what was replaced or evicted before it.
 */
const SETTINGS = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  PRAGMA secure_delete = FAST;
  PRAGMA wal_autocheckpoint = ${LOG_PAGES};
  PRAGMA journal_size_limit = ${4 * LOG_PAGES * PAGE_BYTES};
`;

interface OpenFile {
  readonly db: DatabaseSync;
  readonly sql: Sql;
  readonly inode: number;
}

/**
 * A SQLite file whose content may be lost at any time, used on the main thread. A file that is damaged, deleted or replaced,
 * also under the running service, is created again, and the operation runs again on the new one.
 *
 * A write that another process blocks for 20 ms, or that the disk has no room for, is dropped. Failures are logged here.
 */
export function createCacheFile({ path, schema, runtime }: CacheFileOptions) {
  const { failureLog, health } = runtime;
  const version = crc32(schema) & 0x7fff_ffff;
  const setVersion = `PRAGMA user_version = ${version}`;
  let file: OpenFile | undefined;
  let isFailing = false;
  let isClosed = false;

  function current(): OpenFile {
    if (isClosed) throw new Error(`${path} is closed`);
    // SQLite does not notice that its file was deleted or replaced. Only `stat` is used: to close a descriptor of the file would
    // release the locks that SQLite holds on it in this process (sqlite.org/howtocorrupt.html, section 2.2).
    if (file !== undefined && statSync(path, { throwIfNoEntry: false })?.ino !== file.inode) {
      closeFile();
      reportRebuilt('it was deleted or replaced');
    }
    file ??= openFile();
    return file;
  }

  function openFile(): OpenFile {
    createDirectory(dirname(path));
    const db = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    try {
      db.exec(SETTINGS);
      inTransaction(db, () => createTables(db));
      return { db, sql: createSql(db), inode: statSync(path).ino };
    } catch (error) {
      db.close();
      throw error;
    }
  }

  function createTables(db: DatabaseSync): void {
    const found = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    if (found === 0) db.exec(`${schema}; ${setVersion}`);
    else if (found !== version) throw new DamagedFileError('it is of another version of Pennant');
  }

  function deleteFile(reason: string): void {
    // The database last: its log would belong to the next one.
    for (const part of filesOfDatabase(path).reverse()) rmSync(part, { force: true });
    reportRebuilt(reason);
  }

  function reportRebuilt(reason: string): void {
    failureLog.report({ level: 'warn', key: path, message: basename(path), fields: { kind: 'rebuilt', reason } });
  }

  /** Closing includes a checkpoint, which may fail on a damaged file. */
  function closeFile(): void {
    try {
      file?.db.close();
    } catch (error) {
      if (!isDamage(error)) throw error;
    } finally {
      file = undefined;
    }
  }

  function run<T>(operation: (file: OpenFile) => T): T {
    try {
      return operation(current());
    } catch (error) {
      if (isDamage(error)) {
        closeFile();
        deleteFile(describeFailure(error));
        return operation(current());
      }
      // A read-only connection stays read-only until it is opened again.
      if (isLossOfAccess(error)) closeFile();
      throw error;
    }
  }

  function runOrReport<T>(operation: () => T): T | undefined {
    // Loads may end after the service has stopped.
    if (isClosed) return undefined;
    try {
      return operation();
    } catch (error) {
      isFailing = true;
      health.report('cache', 'cannot be used', new Error(`${path}: ${describeFailure(error)}`));
      return undefined;
    }
  }

  /** Runs a change in one transaction. @throws Error if it is dropped */
  function writeOrThrow<T>(change: (sql: Sql) => T): T {
    const result = run(({ db, sql }) => inTransaction(db, () => change(sql)));
    isFailing = false;
    // A read does not end the condition, because a full disk can still be read.
    health.report('cache', null);
    return result;
  }

  /** Runs a change in one transaction. Returns `undefined` if it is dropped. */
  function write<T>(change: (sql: Sql) => T): T | undefined {
    return runOrReport(() => writeOrThrow(change));
  }

  return {
    /** Returns `undefined` if the file cannot be read. */
    read: <T>(operation: (sql: Sql) => T) => runOrReport(() => run(({ sql }) => operation(sql))),
    write,
    writeOrThrow,
    /**
     * Returns free pages to the disk, in steps, and moves the write-ahead log to the file, so that what was deleted is in neither.
     *
     * @throws Error if the file cannot be used, or another process reads it
     */
    async wipeFreePages(): Promise<void> {
      while (run(({ sql }) => freeSomePages(sql)) > 0) await setImmediate();
      const log = run(({ sql }) => sql('PRAGMA wal_checkpoint(TRUNCATE)').get());
      if (log?.busy === 1) throw new Error('another process is reading the database');
    },
    /** Tries to write if the latest write failed, so that the condition ends without a request. */
    retry(): void {
      if (isFailing) write((sql) => sql(setVersion).run());
    },
    close(): void {
      isClosed = true;
      closeFile();
    },
  };
}

/** Returns the number of pages that are still free. */
function freeSomePages(sql: Sql): number {
  sql(`PRAGMA incremental_vacuum(${PAGES_PER_STEP})`).all();
  return Number(sql('PRAGMA freelist_count').get()?.freelist_count);
}

function createSql(db: DatabaseSync): Sql {
  const statements = new Map<string, StatementSync>();
  return (text) => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const statement = db.prepare(text);
    statements.set(text, statement);
    return statement;
  };
}
