import { setImmediate } from 'node:timers/promises';
import { compactBytes, createMemoryCache } from '../lib/memory-cache.ts';
import { addBoundGauges } from '../lib/metrics.ts';
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
const USE_RECORDED_MS = 3_600_000;
/** Memory of a buffer's objects and of the cache's lists (measured; a test compares). */
const MEMORY_OVERHEAD_BYTES = 650;

/** An image of a channel. The key determines its bytes. */
export interface ImageId {
  readonly channelId: string;
  readonly key: string;
  /** Originals are evicted from the disk after all others, and are in memory only if they cannot be stored. */
  readonly isOriginal: boolean;
}

interface ImageRow {
  readonly row: number;
  readonly size: number;
  readonly checksum: number;
  readonly used_at_ms: number;
}

interface ImageInMemory {
  readonly channelId: string;
  readonly bytes: Buffer;
  /** When its use was last recorded on the disk. Monotonic. */
  recordedAtMs: number;
}

interface ImageStoreOptions {
  readonly file: CacheFile;
  /** The quota on the disk. Each image counts 4 KiB more than its bytes. */
  readonly maxBytes: number;
  readonly maxMemoryBytes: number;
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog' | 'metrics'>;
}

/**
 * Encoded images and originals: in memory, in front of rows of the cache file. The least recently used is evicted first. An image
 * over 6 MiB is only in memory.
 */
export interface ImageStore {
  get(id: ImageId): Promise<Buffer | undefined>;
  put(id: ImageId, bytes: Buffer): void;
  /**
   * Removes all images of these channels, and their bytes from the disk.
   *
   * @returns the number of those on the disk
   * @throws Error when one cannot be removed from the disk
   */
  erase(channelIds: readonly string[]): Promise<number>;
  /** Evicts what exceeds the quota, which may be lower than at the last start, and returns the space to the disk. */
  shrink(): Promise<void>;
}

export function createImageStore({ file, maxBytes, maxMemoryBytes, runtime }: ImageStoreOptions): ImageStore {
  const { clock, failureLog, metrics } = runtime;
  const memory = createMemoryCache<ImageInMemory>({
    maxBytes: maxMemoryBytes,
    sizeOf: ({ bytes }, key) => MEMORY_OVERHEAD_BYTES + key.length + bytes.length,
  });
  const usage = () => ({ ...(file.read(readUsage) ?? { entries: 0, bytes: 0 }), maxBytes });
  addBoundGauges(metrics, 'pennant_images_on_disk', 'images on disk', usage);
  addBoundGauges(metrics, 'pennant_images_in_memory', 'images in memory', memory.stats);

  function keepInMemory({ channelId, key }: ImageId, bytes: Buffer): void {
    memory.set(key, { channelId, bytes: compactBytes(bytes), recordedAtMs: clock.monotonic() });
  }

  /** Without this, the disk would evict the images that are used most, because they are read from memory. */
  function noteUseInMemory(key: string, image: ImageInMemory): void {
    if (clock.monotonic() - image.recordedAtMs < USE_RECORDED_MS) return;
    image.recordedAtMs = clock.monotonic();
    isStored(key);
  }

  /** Counts as a use of the image. */
  function isStored(key: string): boolean {
    const row = file.read((sql) => sql('SELECT * FROM images WHERE key = ?').get(key)) as ImageRow | undefined;
    if (row !== undefined) noteUse(row);
    return row !== undefined;
  }

  function noteUse({ row, used_at_ms }: ImageRow): void {
    const sinceMs = clock.now() - used_at_ms;
    // Negative after the clock was set back.
    if (sinceMs >= 0 && sinceMs < USE_RECORDED_MS) return;
    file.write((sql) => sql('UPDATE images SET used_at_ms = ? WHERE row = ?').run(clock.now(), row));
  }

  /** Removes the image if it is damaged. */
  function read(key: string): Buffer | undefined {
    // Without its content, a row is damaged.
    const select = 'SELECT * FROM images LEFT JOIN contents USING (row) WHERE key = ?';
    const found = file.read((sql) => sql(select).get(key));
    if (found === undefined) return undefined;
    const { content, ...image } = found as unknown as ImageRow & { readonly content: unknown };
    if (content instanceof Uint8Array && checksumOf(key, content) === image.checksum) {
      noteUse(image);
      return Buffer.from(content.buffer, content.byteOffset, content.length);
    }
    file.write((sql) => remove(sql, image));
    failureLog.report({ level: 'warn', key: 'images damaged', message: 'images', fields: { kind: 'damaged', key } });
    return undefined;
  }

  /** Returns false if there is no room. */
  function write({ channelId, key, isOriginal }: ImageId, bytes: Buffer): boolean {
    const size = bytes.length;
    if (size > MAX_ROW_BYTES || size + OVERHEAD_BYTES > maxBytes) return false;
    if (isStored(key)) return true;
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
  }

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

  return {
    async get(id) {
      const kept = memory.get(id.key);
      if (kept !== undefined) {
        noteUseInMemory(id.key, kept);
        return kept.bytes;
      }
      const bytes = read(id.key);
      if (bytes !== undefined && !id.isOriginal) keepInMemory(id, bytes);
      return bytes;
    },

    put(id, bytes) {
      const isOnDisk = write(id, bytes);
      if (!isOnDisk || !id.isOriginal) keepInMemory(id, bytes);
    },

    async erase(channelIds) {
      const ids = new Set(channelIds);
      let erased = 0;
      try {
        for (let count = 1; count > 0; await setImmediate()) {
          count = file.writeOrThrow((sql) => eraseSome(sql, channelIds));
          erased += count;
        }
        await file.wipeFreePages();
        return erased;
      } finally {
        memory.removeWhere((_, { channelId }) => ids.has(channelId));
      }
    },

    async shrink() {
      while ((file.write((sql) => makeRoom(sql, 0)) ?? 0) > 0) await setImmediate();
      // Pages that stay free are used again.
      await file.wipeFreePages().catch(() => undefined);
    },
  };
}

/** Removes some images of these channels. Returns their number. */
function eraseSome(sql: Sql, channelIds: readonly string[]): number {
  const select = 'SELECT row, size FROM images WHERE channel IN (SELECT value FROM json_each(?)) LIMIT 100';
  let [count, bytes] = [0, 0];
  for (const found of sql(select).all(JSON.stringify(channelIds)) as unknown as ImageRow[]) {
    remove(sql, found);
    count += 1;
    bytes += found.size;
    if (bytes >= MAX_ROW_BYTES) break;
  }
  return count;
}

function remove(sql: Sql, { row }: Pick<ImageRow, 'row'>): void {
  sql('DELETE FROM images WHERE row = ?').run(row);
}

function readUsage(sql: Sql) {
  const usage = sql('SELECT entries, bytes FROM image_usage').get() as { entries: number; bytes: number } | undefined;
  if (usage !== undefined && Number.isFinite(usage.bytes)) return usage;
  throw new DamagedFileError('the size of all images is lost');
}
