import { setImmediate } from 'node:timers/promises';
import type { Runtime } from '../lib/runtime.ts';
import { DamagedFileError } from '../lib/sqlite.ts';
import type { CacheFile, Sql } from './cache-file.ts';
import { checksumOf } from './keys.ts';

/** What the disk needs beside the bytes, on average: the row, the indexes, and the unused end of a page. */
const OVERHEAD_BYTES = 4_096;

/** The bytes are in a table of their own, because SQLite writes the whole row when a column changes. */
export const IMAGE_SCHEMA = `
  CREATE TABLE images (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    is_original INTEGER NOT NULL,
    size INTEGER NOT NULL,
    checksum INTEGER NOT NULL, -- CRC-32 of key and bytes
    used_at_ms INTEGER NOT NULL
  );
  CREATE INDEX images_by_use ON images (is_original, used_at_ms);
  CREATE INDEX images_by_channel ON images (channel);
  CREATE TABLE contents (row INTEGER PRIMARY KEY, content BLOB NOT NULL);
  CREATE TABLE image_usage (entries INTEGER NOT NULL, bytes INTEGER NOT NULL);
  INSERT INTO image_usage VALUES (0, 0);
  CREATE TRIGGER image_added AFTER INSERT ON images BEGIN
    UPDATE image_usage SET entries = entries + 1, bytes = bytes + new.size + ${OVERHEAD_BYTES};
  END;
  CREATE TRIGGER image_removed AFTER DELETE ON images BEGIN
    DELETE FROM contents WHERE row = old.row;
    UPDATE image_usage SET entries = entries - 1, bytes = bytes - old.size - ${OVERHEAD_BYTES};
  END;
`;

/**
 * YouTube accepts no larger banner: developers.google.com/youtube/v3/docs/channelBanners/insert (page of 2026-02-18). Writing
 * more would block the event loop for too long, and so would removing more in one turn.
 */
const MAX_ROW_BYTES = 6 * 1024 * 1024;
/** A use is recorded once in this time, so that most reads need no write. */
export const USE_RECORDED_MS = 3_600_000;

interface ImageRow {
  readonly row: number;
  readonly key: string;
  readonly size: number;
  readonly checksum: number;
  readonly used_at_ms: number;
}

/** What an image is stored as. */
export interface StoredImage {
  readonly channelId: string;
  readonly key: string;
  /** Originals are evicted after all others: a new download costs a call to upstream. */
  readonly isOriginal: boolean;
}

interface ImageTableOptions {
  readonly file: CacheFile;
  /** The quota of all images. Each counts 4 KiB more than its bytes. */
  readonly maxBytes: number;
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog'>;
}

/** Encoded images and originals as rows of the cache file, with one quota. The least recently used is evicted first. */
export interface ImageTable {
  /** `undefined` also for an image that is damaged, which is removed. */
  get(key: string): Buffer | undefined;
  /** Counts as a use of the image, like reading it. */
  noteUse(key: string): void;
  /** Stores an image of at most 6 MiB. The key determines its bytes. Returns false if there is no room. */
  put(image: StoredImage, bytes: Buffer): boolean;
  /**
   * Removes all images of these channels, and their bytes from the disk.
   *
   * @returns their number
   * @throws Error when one cannot be removed
   */
  erase(channelIds: readonly string[]): Promise<number>;
  /** Evicts what exceeds the quota, which may be lower than at the last start, and returns the space to the disk. */
  shrink(): Promise<void>;
  usage(): { readonly entries: number; readonly bytes: number; readonly maxBytes: number };
}

export function createImageTable({ file, maxBytes, runtime }: ImageTableOptions): ImageTable {
  const { clock, failureLog } = runtime;

  /** Evicts until these bytes have room, at most as many as one image may have. Returns the number of evicted images. */
  function makeRoom(sql: Sql, bytes: number): number {
    const excess = Math.min(readUsage(sql).bytes + bytes - maxBytes, MAX_ROW_BYTES + OVERHEAD_BYTES);
    const next = 'SELECT row, size FROM images ORDER BY is_original, used_at_ms LIMIT 1';
    let count = 0;
    for (let evicted = 0; evicted < excess; count += 1) {
      const victim = sql(next).get() as Pick<ImageRow, 'row' | 'size'> | undefined;
      if (victim === undefined) break;
      remove(sql, victim);
      evicted += victim.size + OVERHEAD_BYTES;
    }
    return count;
  }

  function note({ row, used_at_ms }: ImageRow): void {
    const sinceMs = clock.now() - used_at_ms;
    // Negative after the clock was set back.
    if (sinceMs >= 0 && sinceMs < USE_RECORDED_MS) return;
    file.write((sql) => sql('UPDATE images SET used_at_ms = ? WHERE row = ?').run(clock.now(), row));
  }

  function findAndNote(key: string): ImageRow | undefined {
    const select = 'SELECT * FROM images WHERE key = ?';
    const row = file.read((sql) => sql(select).get(key)) as ImageRow | undefined;
    if (row !== undefined) note(row);
    return row;
  }

  function eraseSome(sql: Sql, channelIds: readonly string[]): number {
    const select = 'SELECT row, size FROM images WHERE channel IN (SELECT value FROM json_each(?))';
    let [count, bytes] = [0, 0];
    for (const found of sql(`${select} LIMIT 100`).all(JSON.stringify(channelIds))) {
      const image = found as unknown as ImageRow;
      remove(sql, image);
      count += 1;
      bytes += image.size;
      if (bytes >= MAX_ROW_BYTES) break;
    }
    return count;
  }

  return {
    get(key) {
      // Without its content, a row is damaged.
      const select = 'SELECT * FROM images LEFT JOIN contents USING (row) WHERE key = ?';
      const found = file.read((sql) => sql(select).get(key));
      if (found === undefined) return undefined;
      const { content, ...image } = found as unknown as ImageRow & { readonly content: unknown };
      const bytes =
        content instanceof Uint8Array ? Buffer.from(content.buffer, content.byteOffset, content.length) : undefined;
      if (bytes !== undefined && checksumOf(key, bytes) === image.checksum) {
        note(image);
        return bytes;
      }
      file.write((sql) => remove(sql, image));
      failureLog.report({ level: 'warn', key: 'images damaged', message: 'images', fields: { kind: 'damaged', key } });
      return undefined;
    },

    noteUse: (key) => void findAndNote(key),

    put({ channelId, key, isOriginal }, bytes) {
      const size = bytes.length;
      if (size > MAX_ROW_BYTES || size + OVERHEAD_BYTES > maxBytes) return false;
      if (findAndNote(key) !== undefined) return true;
      const insert = `
        INSERT INTO images (key, channel, is_original, size, checksum, used_at_ms) VALUES (?, ?, ?, ?, ?, ?)
      `;
      const row = [key, channelId, isOriginal ? 1 : 0, size, checksumOf(key, bytes), clock.now()];
      const written = file.write((sql) => {
        makeRoom(sql, size + OVERHEAD_BYTES);
        const { lastInsertRowid } = sql(insert).run(...row);
        return sql('INSERT INTO contents VALUES (?, ?)').run(lastInsertRowid, bytes);
      });
      return written !== undefined;
    },

    async erase(channelIds) {
      let erased = 0;
      for (let count = 1; count > 0; await setImmediate()) {
        count = file.writeOrThrow((sql) => eraseSome(sql, channelIds));
        erased += count;
      }
      await file.wipeFreePages();
      return erased;
    },

    async shrink() {
      while ((file.write((sql) => makeRoom(sql, 0)) ?? 0) > 0) await setImmediate();
      // Pages that stay free are used again.
      await file.wipeFreePages().catch(() => undefined);
    },

    usage: () => ({ ...(file.read(readUsage) ?? { entries: 0, bytes: 0 }), maxBytes }),
  };
}

function remove(sql: Sql, { row }: Pick<ImageRow, 'row'>): void {
  sql('DELETE FROM images WHERE row = ?').run(row);
}

function readUsage(sql: Sql) {
  const usage = sql('SELECT entries, bytes FROM image_usage').get() as { entries: number; bytes: number } | undefined;
  if (usage !== undefined && Number.isFinite(usage.bytes)) return usage;
  throw new DamagedFileError('the size of all images is lost');
}
