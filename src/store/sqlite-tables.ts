import type { DatabaseSync } from 'node:sqlite';
import { type Change, concernsEntry } from './changes.ts';
import { channelIdsIn, checksumOf } from './keys.ts';
import { DamagedFileError } from './sqlite-schema.ts';
import type { StoredEntry } from './store.ts';

export interface ErasingPlace {
  readonly afterRow: number;
  /** The last row when erasing began: later rows are newer than the change. */
  readonly upToRow: number;
}

const ROWS_PER_STEP = 64;
/** About the number of rows that takes a few milliseconds, during which other calls wait. */
const ROWS_PER_ERASING_STEP = 200;
const MAX_EVICTION_STEPS = 10;

export type CacheTables = ReturnType<typeof openCacheTables>;

/**
 * The operations on an open `cache.db`. Times are wall-clock times.
 *
 * @param maxBytes limit of the pages in use; a single change may exceed it for a moment
 */
export function openCacheTables(db: DatabaseSync, maxBytes: number) {
  const select = db.prepare(
    'SELECT value, stored_at_ms AS storedAtMs, checksum FROM entries WHERE key = ? AND expires_at_ms > ?',
  );
  const upsert = db.prepare(`
    INSERT INTO entries (key, value, stored_at_ms, expires_at_ms, checksum) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, stored_at_ms = excluded.stored_at_ms,
      expires_at_ms = excluded.expires_at_ms, checksum = excluded.checksum`);
  const removeExpired = db.prepare(
    'DELETE FROM entries WHERE row IN (SELECT row FROM entries WHERE expires_at_ms <= ? LIMIT ?)',
  );
  const removeNextToExpire = db.prepare(
    'DELETE FROM entries WHERE row IN (SELECT row FROM entries ORDER BY expires_at_ms LIMIT ?)',
  );
  const selectAfter = db.prepare('SELECT row, key, value FROM entries WHERE row > ? AND row <= ? ORDER BY row LIMIT ?');
  const selectLast = db.prepare('SELECT max(row) AS row FROM entries');
  const removeRow = db.prepare('DELETE FROM entries WHERE row = ?');
  const pages = db.prepare(`
    SELECT page_count - freelist_count AS used, page_size AS bytes
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size`);

  function usedBytes(): number {
    const row = pages.get() as { used: number; bytes: number };
    return row.used * row.bytes;
  }

  return {
    get(key: string, nowMs: number): StoredEntry | undefined {
      const row = select.get(key, nowMs) as (StoredEntry & { checksum: number }) | undefined;
      if (row === undefined) return undefined;
      // SQLite has no page checksums and would return a damaged value.
      if (checksumOf(key, row.value) !== row.checksum) throw new DamagedFileError('an entry has a wrong checksum');
      return { value: row.value, storedAtMs: row.storedAtMs };
    },

    set(key: string, { value, storedAtMs }: StoredEntry, expiresAtMs: number): void {
      upsert.run(key, value, storedAtMs, expiresAtMs, checksumOf(key, value));
    },

    /** Removes some expired entries and, while the file is too large, the entries that expire next. */
    shrink(nowMs: number): void {
      removeExpired.run(nowMs, ROWS_PER_STEP);
      for (let step = 0; step < MAX_EVICTION_STEPS && usedBytes() > maxBytes; step += 1) {
        removeNextToExpire.run(ROWS_PER_STEP);
      }
    },

    /**
     * Removes what the change concerns among the next rows, from the given place or from the first row.
     *
     * @returns `next`: the place for the next step; `undefined` at the end
     */
    erase(change: Change, from?: ErasingPlace) {
      const { afterRow, upToRow } = from ?? { afterRow: 0, upToRow: Number(selectLast.get()?.row ?? 0) };
      const found = selectAfter.all(afterRow, upToRow, ROWS_PER_ERASING_STEP);
      const rows = found as { row: number; key: string; value: string }[];
      const erased = rows.filter(({ key, value }) => concernsEntry(change, key, channelIdsIn(value)));
      for (const { row } of erased) removeRow.run(row);
      const last = rows.at(-1);
      return { erasedKeys: erased.map(({ key }) => key), next: last && { afterRow: last.row, upToRow } };
    },

    /** Removes the erased data from the write-ahead log too. */
    finishErasing(): void {
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
  };
}
