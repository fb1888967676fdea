import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DamagedFileError, inTransaction } from '../lib/sqlite.ts';

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

function requireVersion(db: DatabaseSync, version: number): void {
  const found = versionOf(db);
  if (found === version) return;
  throw new DamagedFileError(`it is of another version of Pennant (schema ${found} instead of ${version})`);
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}
