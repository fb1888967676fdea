import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { openToLook } from '../lib/sqlite-read-only.ts';
import { DamagedFileError } from './sqlite-errors.ts';

/**
 * Kept in `PRAGMA user_version`; goes up with every change of the tables. An older file is thrown away: it is a cache.
 * Files of version 1 may still hold, in free pages, what was deleted from them.
 */
const SCHEMA_VERSION = 2;

const SCHEMA = `
  CREATE TABLE entries (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL,
    stored_at_ms REAL NOT NULL,
    expires_at_ms REAL NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE INDEX entries_by_expiry ON entries (expires_at_ms);
`;

/** The file belongs to a newer version, which may still want it. */
class NewerSchemaError extends Error {}

/**
 * Creates the tables in an empty file.
 *
 * @throws DamagedFileError when the file is of an older version; Error when it is of a newer one
 */
export function prepareSchema(db: DatabaseSync): void {
  // Within the write lock, for another process may be about to do the same.
  db.exec('BEGIN IMMEDIATE');
  const version = versionOf(db);
  if (version === 0) db.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}`);
  db.exec('COMMIT');
  if (version !== 0) requireVersion(version);
}

function requireVersion(version: number): void {
  if (version < SCHEMA_VERSION) {
    throw new DamagedFileError(`its schema is ${version}, that of an earlier version, instead of ${SCHEMA_VERSION}`);
  }
  if (version > SCHEMA_VERSION) {
    throw new NewerSchemaError(
      `it was written by a newer Pennant (schema ${version}, this one knows ${SCHEMA_VERSION}): run that version, or ` +
        'empty the cache with "pennant cache clear"',
    );
  }
}

/** @throws Error that names the file, unless it is of this very version */
export function requireOwnSchema(db: DatabaseSync, path: string): void {
  try {
    requireVersion(versionOf(db));
  } catch (error) {
    throw new Error(`The cache ${path} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}

/** Why `cache.db` is not for this version to use; `undefined` for one that can be used or begun anew. */
export function findSchemaProblem(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    const db = openToLook(path);
    try {
      requireVersion(versionOf(db));
    } finally {
      db.close();
    }
    return undefined;
  } catch (error) {
    // Whatever else is wrong with it, the store copes with.
    return error instanceof NewerSchemaError ? `The cache ${path} cannot be used: ${error.message}.` : undefined;
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}
