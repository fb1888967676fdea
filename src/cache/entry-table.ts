import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import type { CacheFile, Sql } from './cache-file.ts';
import { createMatcher, type Removal } from './removal.ts';
import type { Store } from './store.ts';

/** The row, and its part of the indexes. */
const OVERHEAD_BYTES = 200;

export const ENTRY_SCHEMA = `
  CREATE TABLE entries (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    size INTEGER NOT NULL, -- bytes that count against the limit
    expires_at_ms REAL NOT NULL
  );
  CREATE INDEX entries_by_expiry ON entries (expires_at_ms);
  CREATE TABLE entry_usage (bytes INTEGER NOT NULL);
  INSERT INTO entry_usage VALUES (0);
  CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
    UPDATE entry_usage SET bytes = bytes + new.size;
  END;
  CREATE TRIGGER entry_removed AFTER DELETE ON entries BEGIN
    UPDATE entry_usage SET bytes = bytes - old.size;
  END;
`;

/** How long a removal looks at entries before the event loop goes on. */
const STEP_MS = 5;
/** Rows that one write may evict. A write adds one row, so the table shrinks after its limit is lowered. */
const EVICTED_ROWS = 8;

interface EntryTableOptions {
  readonly file: CacheFile;
  /** The entries that expire next are removed first. */
  readonly maxBytes: number;
  readonly clock: Clock;
}

interface Row {
  readonly row: number;
  readonly key: string;
  readonly text: string;
}

/** The store in `cache.db`. */
export function createEntryTable({ file, maxBytes, clock }: EntryTableOptions): Store {
  function evict(sql: Sql): void {
    const next = 'DELETE FROM entries WHERE row IN (SELECT row FROM entries';
    sql(`${next} WHERE expires_at_ms <= ? LIMIT ?)`).run(clock.now(), EVICTED_ROWS);
    if (Number(sql('SELECT bytes FROM entry_usage').get()?.bytes) <= maxBytes) return;
    sql(`${next} ORDER BY expires_at_ms LIMIT ?)`).run(EVICTED_ROWS);
  }

  /** Looks at the entries behind `after`. @returns the last one that it has looked at; `undefined` if there are no more */
  function removeSome(sql: Sql, after: number, matches: (key: string, text: string) => boolean) {
    const untilMs = performance.now() + STEP_MS;
    const select =
      'SELECT row, CAST(key AS TEXT) AS key, CAST(text AS TEXT) AS text FROM entries WHERE row > ? ORDER BY row';
    const removed: number[] = [];
    let last: number | undefined;
    for (const found of sql(select).iterate(after)) {
      const { row, key, text } = found as unknown as Row;
      if (matches(key, text)) removed.push(row);
      last = row;
      if (performance.now() >= untilMs) break;
    }
    for (const row of removed) sql('DELETE FROM entries WHERE row = ?').run(row);
    return { last, count: removed.length };
  }

  /** Entries that are stored meanwhile come behind the others. */
  async function removeMatching(removal: Removal): Promise<number> {
    const { matchesStored } = createMatcher(removal);
    const end = file.writeOrThrow((sql) => Number(sql('SELECT max(row) AS row FROM entries').get()?.row ?? 0));
    let count = 0;
    for (let after = 0; after < end; await setImmediate()) {
      const step = file.writeOrThrow((sql) => removeSome(sql, after, matchesStored));
      count += step.count;
      after = step.last ?? end;
    }
    return count;
  }

  return {
    name: 'cache.db',
    isShared: false,

    async get(key) {
      const select = 'SELECT CAST(text AS TEXT) AS text FROM entries WHERE key = ? AND expires_at_ms > ?';
      const row = file.read((sql) => sql(select).get(key, clock.now())) as Pick<Row, 'text'> | undefined;
      return row?.text;
    },

    async set(key, text, ttlMs) {
      const size = OVERHEAD_BYTES + Buffer.byteLength(key) + Buffer.byteLength(text);
      file.write((sql) => {
        sql('DELETE FROM entries WHERE key = ?').run(key);
        const insert = 'INSERT INTO entries (key, text, size, expires_at_ms) VALUES (?, ?, ?, ?)';
        sql(insert).run(key, text, size, clock.now() + ttlMs);
        evict(sql);
      });
    },

    async remove(removal) {
      const removed = await removeMatching(removal);
      // Even if no entry was removed: an earlier purge may have failed before this step.
      await file.wipeFreePages();
      return removed;
    },

    async close() {},
  };
}
