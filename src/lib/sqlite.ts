import type { DatabaseSync } from 'node:sqlite';
import { hasErrorCode } from './file-system.ts';

/** The file can be opened, but its content is damaged or has another layout. */
export class DamagedFileError extends Error {}

/** Primary result codes (sqlite.org/rescode.html). */
const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_CANTOPEN = 14;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_NOTADB = 26;
/** An extended code. */
const SQLITE_IOERR_SHORT_READ = 522;

/**
 * The statements are fixed: with `SQLITE_ERROR` the tables are foreign, and a constraint or a type is violated by what the file
 * already has.
 */
const DAMAGE_CODES = new Set([SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_NOTADB]);
const LOSS_OF_ACCESS_CODES = new Set([SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN]);

/** True when the file's content is damaged; false for a full disk, a lock or missing permissions. */
export function isDamage(error: unknown): boolean {
  // Node reads no integer over 2^53, and no file of ours has one.
  if (error instanceof DamagedFileError || hasErrorCode(error, 'ERR_OUT_OF_RANGE')) return true;
  return DAMAGE_CODES.has(primaryCodeOf(error)) || resultCodeOf(error) === SQLITE_IOERR_SHORT_READ;
}

/** True if the file may be intact but this connection can no longer be used. */
export function isLossOfAccess(error: unknown): boolean {
  return LOSS_OF_ACCESS_CODES.has(primaryCodeOf(error));
}

/** True if another process kept the file locked for longer than the statement waits. */
export function isLocked(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_BUSY;
}

/** The primary code of an error of SQLite: the low byte of its result code. 0 for any other error. */
export function primaryCodeOf(error: unknown): number {
  return resultCodeOf(error) & 0xff;
}

function resultCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : 0;
}

/** The files of a database: its own, its write-ahead log and the log's index. */
export function filesOfDatabase(path: string): string[] {
  return ['', '-wal', '-shm'].map((suffix) => `${path}${suffix}`);
}

export function inTransaction<T>(db: DatabaseSync, change: () => T): T {
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
