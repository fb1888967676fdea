import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { openToLook } from '../lib/sqlite-read-only.ts';
import { DamagedFileError, isDamage, isLossOfAccess, messageOf } from './sqlite-errors.ts';

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

/** The file cannot be read as it is; the message names it and is for the operator. */
export class CacheUnreadableError extends Error {
  constructor(path: string, cause: unknown) {
    super(`The cache ${path} cannot be read: ${messageOf(cause)}.`, { cause });
    this.name = 'CacheUnreadableError';
  }
}

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

/**
 * Looks into a file of this very version, which may be in use, and changes nothing.
 *
 * @throws CacheUnreadableError
 */
export function lookInto<T>(path: string, look: (db: DatabaseSync) => T): T {
  try {
    const db = openToLook(path);
    try {
      requireVersion(versionOf(db));
      return look(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if (error instanceof NewerSchemaError || isDamage(error) || isLossOfAccess(error)) {
      throw new CacheUnreadableError(path, error);
    }
    throw error;
  }
}

/** Why `cache.db` is not for this version to use; `undefined` for one that can be used or begun anew. */
export function findSchemaProblem(path: string): string | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  try {
    lookInto(path, () => undefined);
    return undefined;
  } catch (error) {
    // Whatever else is wrong with it, the store copes with.
    const isNewer = error instanceof CacheUnreadableError && error.cause instanceof NewerSchemaError;
    return isNewer ? error.message : undefined;
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}
