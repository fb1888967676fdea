import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import { DamagedFileError } from '../lib/sqlite.ts';
import { createCacheFile, type Sql } from './cache-file.ts';
import { createMatcher, type Removal } from './removal.ts';
import type { Store } from './store.ts';

/** Values, and images with their originals, have a quota each. */
type Share = 'values' | 'images';

/** What the disk needs beside the content, on average: the row, the indexes, and the unused end of a page. */
const OVERHEAD_BYTES: Readonly<Record<Share, number>> = { values: 200, images: 4_096 };

/** The contents are in a table of their own, because SQLite writes the whole row when a column changes. */
const SCHEMA = `
  CREATE TABLE rows (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    share TEXT NOT NULL,
    is_original INTEGER NOT NULL,
    size INTEGER NOT NULL, -- bytes that count against the quota
    checksum INTEGER NOT NULL, -- CRC-32 of key and content
    expires_at_ms INTEGER NOT NULL
  );
  CREATE INDEX rows_by_expiry ON rows (share, is_original, expires_at_ms);
  CREATE TABLE contents (row INTEGER PRIMARY KEY, content BLOB NOT NULL);
  CREATE TABLE usage (share TEXT PRIMARY KEY, bytes INTEGER NOT NULL);
  INSERT INTO usage VALUES ('values', 0), ('images', 0);
  CREATE TRIGGER row_added AFTER INSERT ON rows BEGIN
    UPDATE usage SET bytes = bytes + new.size WHERE share = new.share;
  END;
  CREATE TRIGGER row_removed AFTER DELETE ON rows BEGIN
    DELETE FROM contents WHERE row = old.row;
    UPDATE usage SET bytes = bytes - old.size WHERE share = old.share;
  END;
`;

/**
 * YouTube accepts no larger banner: developers.google.com/youtube/v3/docs/channelBanners/insert (page of 2026-02-18). Writing
 * more would block the event loop for too long, and so would removing more in one turn.
 */
const MAX_ROW_BYTES = 6 * 1024 * 1024;
/** How long a removal works before the event loop goes on. */
const STEP_MS = 5;
/** Expired rows that one write removes. It adds one. */
const EXPIRED_ROWS = 2;
/** A use is recorded once in this time, so that most reads need no write. */
export const USE_RECORDED_MS = 3_600_000;

interface NewRow {
  readonly key: string;
  readonly share: Share;
  /** Originals are evicted after all others. */
  readonly isOriginal?: boolean;
  readonly content: Buffer;
  readonly ttlMs: number;
}

interface FoundRow {
  readonly row: number;
  readonly size: number;
  readonly checksum: number;
  readonly expires_at_ms: number;
}

interface RowsOptions {
  readonly path: string;
  /** An image counts 4 KiB more than its bytes. */
  readonly quotas: Readonly<Record<Share, number>>;
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog' | 'health' | 'metrics'>;
}

export type Rows = ReturnType<typeof createRows>;

/** The rows of `cache.db`: values, encoded images and originals. What expires next is evicted first. */
export function createRows({ path, quotas, runtime }: RowsOptions) {
  const { clock, failureLog, metrics } = runtime;
  const file = createCacheFile({ path, schema: SCHEMA, runtime });
  addBoundGauges(metrics, 'pennant_images_on_disk', 'images on disk', () => ({
    bytes: file.read((sql) => usedBytes(sql, 'images')) ?? 0,
    maxBytes: quotas.images,
  }));

  function renew({ row, expires_at_ms }: FoundRow, renewedMs: number): void {
    const expiresAtMs = clock.now() + renewedMs;
    // A clock that was set back makes a large difference, too.
    if (Math.abs(expiresAtMs - expires_at_ms) < USE_RECORDED_MS) return;
    file.write((sql) => sql('UPDATE rows SET expires_at_ms = ? WHERE row = ?').run(expiresAtMs, row));
  }

  /** Evicts until these bytes have room, at most as many as one row may have. Returns the number of evicted rows. */
  function makeRoom(sql: Sql, share: Share, bytes: number): number {
    const excess = Math.min(usedBytes(sql, share) + bytes - quotas[share], MAX_ROW_BYTES + OVERHEAD_BYTES[share]);
    const next = 'SELECT row, size FROM rows WHERE share = ? ORDER BY is_original, expires_at_ms LIMIT 1';
    let count = 0;
    for (let evicted = 0; evicted < excess; count += 1) {
      const victim = sql(next).get(share) as Pick<FoundRow, 'row' | 'size'> | undefined;
      if (victim === undefined) break;
      removeRow(sql, victim.row);
      evicted += victim.size;
    }
    return count;
  }

  return {
    /**
     * Returns the content, also of a row that has expired. Removes a damaged row.
     *
     * @param renewedMs this is a use, after which the row stays for this time. Default: it expires as before
     */
    get(key: string, renewedMs?: number): Buffer | undefined {
      // Without its content, a row is damaged.
      const select = 'SELECT * FROM rows LEFT JOIN contents USING (row) WHERE key = ?';
      const found = file.read((sql) => sql(select).get(key));
      if (found === undefined) return undefined;
      const { content, ...row } = found as unknown as FoundRow & { readonly content: unknown };
      if (content instanceof Uint8Array && checksumOf(key, content) === row.checksum) {
        if (renewedMs !== undefined) renew(row, renewedMs);
        return Buffer.from(content.buffer, content.byteOffset, content.length);
      }
      file.write((sql) => removeRow(sql, row.row));
      const fields = { kind: 'damaged', key };
      failureLog.report({ level: 'warn', key: 'cache.db damaged', message: 'cache.db', fields });
      return undefined;
    },

    /** Replaces the row. Returns false if it is not stored: it is over 6 MiB or the quota, or the file cannot be written. */
    put({ key, share, isOriginal = false, content, ttlMs }: NewRow): boolean {
      const size = content.length + OVERHEAD_BYTES[share];
      if (content.length > MAX_ROW_BYTES || size > quotas[share]) return false;
      const insert = `
        INSERT INTO rows (key, share, is_original, size, checksum, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)
      `;
      const expired = `
        SELECT row FROM rows WHERE share = ? AND is_original = ? AND expires_at_ms <= ? LIMIT ${EXPIRED_ROWS}
      `;
      const nowMs = clock.now();
      const kind = [share, isOriginal ? 1 : 0] as const;
      const written = file.write((sql) => {
        sql('DELETE FROM rows WHERE key = ?').run(key);
        sql(`DELETE FROM rows WHERE row IN (${expired})`).run(...kind, nowMs);
        makeRoom(sql, share, size);
        const { lastInsertRowid } = sql(insert).run(key, ...kind, size, checksumOf(key, content), nowMs + ttlMs);
        return sql('INSERT INTO contents VALUES (?, ?)').run(lastInsertRowid, content);
      });
      return written !== undefined;
    },

    /**
     * Removes rows, and their bytes from the disk, in steps.
     *
     * @returns the number of removed rows
     * @throws Error if some may be left
     */
    async remove(removal: Removal): Promise<number> {
      const { matchesStored } = createMatcher(removal);
      let removed = 0;
      for (let after: number | undefined = 0; after !== undefined; await setImmediate()) {
        const from: number = after;
        const step = file.writeOrThrow((sql) => removeSome(sql, from, matchesStored));
        removed += step.count;
        after = step.last;
      }
      // Even if nothing was removed: an earlier removal may have failed before this step.
      await file.wipeFreePages();
      return removed;
    },

    /** Evicts what exceeds the quotas, which may be lower than at the last start, and returns the space to the disk. */
    async shrink(): Promise<void> {
      for (const share of ['values', 'images'] as const) {
        while ((file.write((sql) => makeRoom(sql, share, 0)) ?? 0) > 0) await setImmediate();
      }
      // Pages that stay free are used again.
      await file.wipeFreePages().catch(() => undefined);
    },

    retry: file.retry,
    close: file.close,
  };
}

/**
 * Looks at the rows behind `after` for some time. Images and originals have the channel's ID in their key, so their content is not read.
 *
 * @returns the last row that it has looked at; `undefined` if there are no more
 */
function removeSome(sql: Sql, after: number, matches: (key: string, text: string) => boolean) {
  const untilMs = performance.now() + STEP_MS;
  const text = "CASE share WHEN 'values' THEN CAST(content AS TEXT) ELSE '' END AS text";
  const select = `SELECT row, CAST(key AS TEXT) AS key, ${text} FROM rows LEFT JOIN contents USING (row) WHERE row > ? ORDER BY row`;
  let last: number | undefined;
  let count = 0;
  for (const found of sql(select).iterate(after)) {
    const { row, key, text } = found as unknown as { row: number; key: string; text: string | null };
    last = row;
    if (matches(key, text ?? '')) {
      removeRow(sql, row);
      count += 1;
    }
    if (performance.now() >= untilMs) break;
  }
  return { last, count };
}

/** Includes the key, so that a content is valid only under its own key. */
function checksumOf(key: string, content: Uint8Array): number {
  return crc32(content, crc32(key));
}

function removeRow(sql: Sql, row: number): void {
  sql('DELETE FROM rows WHERE row = ?').run(row);
}

/** What counts against the quota. */
function usedBytes(sql: Sql, share: Share): number {
  const bytes = sql('SELECT bytes FROM usage WHERE share = ?').get(share)?.bytes;
  if (typeof bytes === 'number' && Number.isFinite(bytes)) return bytes;
  throw new DamagedFileError('the size of all rows is lost');
}

/** The values in `cache.db`, as a store. */
export function createValueStore(rows: Rows): Store {
  return {
    name: 'cache.db',
    isShared: false,
    get: async (key) => rows.get(key)?.toString(),
    set: async (key, text, ttlMs) => void rows.put({ key, share: 'values', content: Buffer.from(text), ttlMs }),
    remove: rows.remove,
  };
}
