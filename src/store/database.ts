import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DamagedFileError, inTransaction, isDamage, isLossOfAccess, messageOf, readDatabase } from '../lib/sqlite.ts';
import { StoreUnreadableError } from './store.ts';

/*
 * What `cache.db` and `images.db` have in common: a version of their tables, and the number of the epoch. A file of another
 * version is created again.
 */

/** The text of the epoch, as in Redis. */
export const EPOCH = "series || ':' || number";

/** One row. A new file begins a new series. */
const EPOCH_TABLE = `
  CREATE TABLE IF NOT EXISTS epoch (series TEXT NOT NULL, number INTEGER NOT NULL);
  INSERT INTO epoch SELECT lower(hex(randomblob(8))), 0 WHERE NOT EXISTS (SELECT 1 FROM epoch);
`;

/**
 * Creates the tables in an empty file.
 *
 * @param version in `PRAGMA user_version`
 * @throws DamagedFileError when the file is of another version
 */
export function createTables(db: DatabaseSync, schema: string, version: number): void {
  // The transaction begins with the write lock, because another process may create the tables at the same time.
  inTransaction(db, () => {
    if (versionOf(db) === 0) db.exec(`${schema} PRAGMA user_version = ${version}`);
    requireVersion(db, version);
    // Earlier files of this version lack it.
    db.exec(EPOCH_TABLE);
  });
}

export interface EpochStatements {
  readonly epoch: StatementSync;
  readonly raiseEpoch: StatementSync;
}

export function prepareEpoch(db: DatabaseSync): EpochStatements {
  return {
    epoch: db.prepare(`SELECT ${EPOCH} AS epoch FROM epoch`),
    raiseEpoch: db.prepare('UPDATE epoch SET number = number + 1'),
  };
}

export function readEpoch({ epoch }: EpochStatements): string {
  return String(epoch.get()?.epoch);
}

interface DatabaseFile {
  readonly path: string;
  /** What it is, for messages. */
  readonly what: string;
  readonly version: number;
}

/**
 * Reads a file of this version, which may be in use; changes nothing.
 *
 * @throws StoreUnreadableError
 */
export function inspectDatabase<T>({ path, what, version }: DatabaseFile, inspect: (db: DatabaseSync) => T): T {
  try {
    return readDatabase(path, (db) => {
      requireVersion(db, version);
      return inspect(db);
    });
  } catch (error) {
    if (!isDamage(error) && !isLossOfAccess(error)) throw error;
    throw new StoreUnreadableError(`The ${what} ${path} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

/** The size of a file; 0 if there is none. */
export function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function requireVersion(db: DatabaseSync, version: number): void {
  const found = versionOf(db);
  if (found === version) return;
  throw new DamagedFileError(`it is of another version of Pennant (schema ${found} instead of ${version})`);
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}
