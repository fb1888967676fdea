import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { createTables } from './database.ts';
import { DATA_VERSION } from './keys.ts';

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

/** All statements on the tables. Times are wall-clock times. */
export interface CacheStatements {
  readonly select: StatementSync;
  readonly upsert: StatementSync;
  readonly removeExpired: StatementSync;
  readonly removeNextToExpire: StatementSync;
  readonly removeKey: StatementSync;
  readonly removeLeadsTo: StatementSync;
  readonly selectBetween: StatementSync;
  readonly pages: StatementSync;
}

export function prepareStatements(db: DatabaseSync): CacheStatements {
  return {
    select: db.prepare(
      'SELECT value, stored_at_ms AS storedAtMs, checksum FROM entries WHERE key = ? AND expires_at_ms > ?',
    ),
    upsert: db.prepare(`
      INSERT INTO entries (key, leads_to, value, stored_at_ms, expires_at_ms, checksum)
      VALUES (?, ?, ?, ?, ?, ?)
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
    selectBetween: db.prepare('SELECT key, value FROM entries WHERE key > ? AND key < ? ORDER BY key LIMIT ?'),
    pages: db.prepare(`
      SELECT page_count - freelist_count AS used, page_size AS bytes
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size`),
  };
}

/** @throws DamagedFileError when the file is of another version */
export function prepareSchema(db: DatabaseSync): void {
  createTables(db, SCHEMA, DATA_VERSION);
}
