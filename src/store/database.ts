import type { DatabaseSync } from 'node:sqlite';
import { DamagedFileError, inTransaction } from '../lib/sqlite.ts';

/**
 * Creates the tables of `cache.db` or `images.db` in an empty file. A file of another version is created again.
 *
 * @param version in `PRAGMA user_version`
 * @throws DamagedFileError when the file is of another version
 */
export function createTables(db: DatabaseSync, schema: string, version: number): void {
  // The transaction begins with the write lock, because another process may create the tables at the same time.
  inTransaction(db, () => {
    if (versionOf(db) === 0) db.exec(`${schema} PRAGMA user_version = ${version}`);
    requireVersion(db, version);
  });
}

function requireVersion(db: DatabaseSync, version: number): void {
  const found = versionOf(db);
  if (found === version) return;
  throw new DamagedFileError(`it is of another version of Pennant (schema ${found} instead of ${version})`);
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}
