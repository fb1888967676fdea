import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import type { CacheFile, Sql } from './cache-file.ts';
import { channelIdsIn, checksumOf } from './keys.ts';
import type { Store, StoredEntry } from './store.ts';

/** The row, and its part of the indexes. */
const OVERHEAD_BYTES = 200;

export const ENTRY_SCHEMA = `
  CREATE TABLE entries (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL,
    size INTEGER NOT NULL, -- bytes that count against the limit
    stored_at_ms REAL NOT NULL,
    expires_at_ms REAL NOT NULL,
    checksum INTEGER NOT NULL -- CRC-32 of key and value
  );
  CREATE INDEX entries_by_expiry ON entries (expires_at_ms);
  -- The channels that a key or a value names.
  CREATE TABLE named (channel TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (channel, entry)) WITHOUT ROWID;
  CREATE INDEX named_by_entry ON named (entry);
  CREATE TABLE entry_usage (bytes INTEGER NOT NULL);
  INSERT INTO entry_usage VALUES (0);
  CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
    UPDATE entry_usage SET bytes = bytes + new.size;
  END;
  CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
    DELETE FROM named WHERE entry = old.row;
    UPDATE entry_usage SET bytes = bytes - old.size;
  END;
`;

/** Deleting these rows takes a few milliseconds. */
const ROWS_PER_STEP = 200;
/** Rows that one write may evict. A write adds one row, so the table shrinks after its limit is lowered. */
const EVICTED_ROWS = 8;

interface EntryTableOptions {
  readonly file: CacheFile;
  /** The entries that expire next are removed first. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Called with the key of a damaged value. */
  readonly onRefused: (key: string) => void;
}

/** The store in `cache.db`. */
export function createEntryTable({ file, maxBytes, clock, onRefused }: EntryTableOptions): Store {
  function evict(sql: Sql): void {
    const next = 'DELETE FROM entries WHERE row IN (SELECT row FROM entries';
    sql(`${next} WHERE expires_at_ms <= ? LIMIT ?)`).run(clock.now(), EVICTED_ROWS);
    if (Number(sql('SELECT bytes FROM entry_usage').get()?.bytes) <= maxBytes) return;
    sql(`${next} ORDER BY expires_at_ms LIMIT ?)`).run(EVICTED_ROWS);
  }

  /** Removes some entries that name the channel. @returns their number */
  function removeSome(channelId: string): number {
    return file.writeOrThrow((sql) =>
      Number(
        sql('DELETE FROM entries WHERE row IN (SELECT entry FROM named WHERE channel = ? LIMIT ?)').run(
          channelId,
          ROWS_PER_STEP,
        ).changes,
      ),
    );
  }

  return {
    name: 'cache.db',
    isShared: false,

    async get(key) {
      const row = file.read((sql) =>
        sql(`
          SELECT value, stored_at_ms AS storedAtMs, checksum FROM entries WHERE key = ? AND expires_at_ms > ?
        `).get(key, clock.now()),
      ) as (StoredEntry & { readonly checksum: number }) | undefined;
      if (row === undefined) return undefined;
      const { value, storedAtMs, checksum } = row;
      // SQLite has no checksums and would return a damaged value.
      if (checksumOf(key, value) === checksum) return { value, storedAtMs };
      onRefused(key);
      return undefined;
    },

    async set(key, entry, ttlMs) {
      file.write((sql) => {
        writeEntry(sql, key, entry, clock.now() + ttlMs);
        evict(sql);
      });
    },

    async remove({ channelIds, keys }) {
      let removed = file.writeOrThrow((sql) =>
        keys.reduce((total, key) => total + Number(sql('DELETE FROM entries WHERE key = ?').run(key).changes), 0),
      );
      for (const channelId of channelIds) {
        for (let step = ROWS_PER_STEP; step === ROWS_PER_STEP; ) {
          step = removeSome(channelId);
          removed += step;
          await setImmediate();
        }
      }
      // The log is emptied even if no entry was removed: an earlier purge may have failed before this step.
      file.emptyLog();
      return removed;
    },

    async close() {},
  };
}

/** Replaces the entry of the key, in the transaction of the caller. */
function writeEntry(sql: Sql, key: string, { value, storedAtMs }: StoredEntry, expiresAtMs: number): void {
  const size = OVERHEAD_BYTES + Buffer.byteLength(key) + Buffer.byteLength(value);
  sql('DELETE FROM entries WHERE key = ?').run(key);
  const { lastInsertRowid } = sql(`
    INSERT INTO entries (key, value, size, stored_at_ms, expires_at_ms, checksum) VALUES (?, ?, ?, ?, ?, ?)
  `).run(key, value, size, storedAtMs, expiresAtMs, checksumOf(key, value));
  for (const channelId of channelIdsIn(`${key} ${value}`)) {
    sql('INSERT INTO named (channel, entry) VALUES (?, ?)').run(channelId, lastInsertRowid);
  }
}
