import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { DamagedFileError, isDamage, isLossOfAccess, messageOf } from '../lib/sqlite-errors.ts';
import { readDatabase } from '../lib/sqlite-read-only.ts';
import { DATA_VERSION } from './keys.ts';
import { StoreUnreadableError } from './store.ts';
import { ABSENT_PREFIX, countEntries, findStoredKind, type Statistics } from './stored-kinds.ts';

const SCHEMA = `
  CREATE TABLE entries (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    leads_to TEXT, -- the channel of a name or a redirect
    value TEXT NOT NULL,
    stored_at_ms REAL NOT NULL,
    expires_at_ms REAL NOT NULL,
    checksum INTEGER NOT NULL
  );
  CREATE INDEX entries_by_expiry ON entries (expires_at_ms);
  CREATE INDEX entries_by_channel ON entries (leads_to) WHERE leads_to IS NOT NULL;
`;

/** The text of the epoch, as in Redis. */
const EPOCH = "series || ':' || number";
/** One row. A new file begins a new series. */
const EPOCH_SCHEMA = `
  CREATE TABLE IF NOT EXISTS epoch (series TEXT NOT NULL, number INTEGER NOT NULL);
  INSERT INTO epoch SELECT lower(hex(randomblob(8))), 0 WHERE NOT EXISTS (SELECT 1 FROM epoch);
`;

export type CacheStatements = ReturnType<typeof prepareStatements>;

/** All statements on the tables. Times are wall-clock times. */
export function prepareStatements(db: DatabaseSync) {
  return {
    select: db.prepare(
      'SELECT value, stored_at_ms AS storedAtMs, checksum FROM entries WHERE key = ? AND expires_at_ms > ?',
    ),
    epoch: db.prepare(`SELECT ${EPOCH} AS epoch FROM epoch`),
    raiseEpoch: db.prepare('UPDATE epoch SET number = number + 1'),
    upsert: db.prepare(`
      INSERT INTO entries (key, leads_to, value, stored_at_ms, expires_at_ms, checksum)
      SELECT ?, ?, ?, ?, ?, ? FROM epoch WHERE ${EPOCH} = ?
      ON CONFLICT (key) DO UPDATE SET leads_to = excluded.leads_to, value = excluded.value,
        stored_at_ms = excluded.stored_at_ms, expires_at_ms = excluded.expires_at_ms, checksum = excluded.checksum`),
    removeExpired: db.prepare(
      'DELETE FROM entries WHERE row IN (SELECT row FROM entries WHERE expires_at_ms <= ? LIMIT ?)',
    ),
    removeNextToExpire: db.prepare(
      'DELETE FROM entries WHERE row IN (SELECT row FROM entries ORDER BY expires_at_ms LIMIT ?)',
    ),
    removeKey: db.prepare('DELETE FROM entries WHERE key = ?'),
    removeLeadsTo: db.prepare('DELETE FROM entries WHERE leads_to = ? RETURNING key'),
    removeBetween: db.prepare(
      'DELETE FROM entries WHERE row IN (SELECT row FROM entries WHERE key >= ? AND key < ? LIMIT ?)',
    ),
    selectBetween: db.prepare('SELECT key, value FROM entries WHERE key > ? AND key < ? ORDER BY key LIMIT ?'),
    pages: db.prepare(`
      SELECT page_count - freelist_count AS used, page_size AS bytes
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size`),
  };
}

/**
 * Creates the tables in an empty file.
 *
 * @throws DamagedFileError when the file is of another version
 */
export function prepareSchema(db: DatabaseSync): void {
  // With the write lock: another process may create the tables at the same time.
  db.exec('BEGIN IMMEDIATE');
  const version = versionOf(db);
  if (version === 0) db.exec(`${SCHEMA} PRAGMA user_version = ${DATA_VERSION}`);
  // Files of this version were once without it.
  if (version === 0 || version === DATA_VERSION) db.exec(EPOCH_SCHEMA);
  db.exec('COMMIT');
  if (version !== 0) requireVersion(version);
}

function requireVersion(version: number): void {
  if (version === DATA_VERSION) return;
  throw new DamagedFileError(`it is of another version of Pennant (schema ${version} instead of ${DATA_VERSION})`);
}

/**
 * Reads a file of this version, which may be in use; changes nothing.
 *
 * @throws StoreUnreadableError
 */
export function inspectDatabase<T>(path: string, inspect: (db: DatabaseSync) => T): T {
  try {
    return readDatabase(path, (db) => {
      requireVersion(versionOf(db));
      return inspect(db);
    });
  } catch (error) {
    if (isDamage(error) || isLossOfAccess(error)) {
      throw new StoreUnreadableError(`The cache ${path} cannot be read: ${messageOf(error)}.`, { cause: error });
    }
    throw error;
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
}

/** `StoreBackend.readStatistics` of a file. */
export function readDatabaseStatistics(path: string): { bytes: number; kinds: Statistics } {
  const bytes = sizeOf(path);
  if (bytes === 0) return { bytes, kinds: {} };
  return inspectDatabase(path, (db) => {
    const rows = db.prepare(`
      SELECT substr(key, 1, instr(key, ':')) AS prefix, substr(value, 1, length(:absent)) = :absent AS isAbsent,
        count(*) AS entries, sum(octet_length(key) + octet_length(value)) AS bytes, min(stored_at_ms) AS oldestMs
      FROM entries GROUP BY prefix, isAbsent`);
    const kinds: Statistics = {};
    for (const { prefix, isAbsent, entries, bytes, oldestMs } of rows.iterate({ absent: ABSENT_PREFIX })) {
      const kind = isAbsent === 1 ? 'negatives' : findStoredKind(String(prefix));
      countEntries(kinds, kind, { entries: Number(entries), bytes: Number(bytes), oldestMs: Number(oldestMs) });
    }
    return { bytes: bytes + sizeOf(`${path}-wal`), kinds };
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
