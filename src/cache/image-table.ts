import { randomUUID } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { opendir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createDirectory } from '../lib/file-system.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { CacheFile, Sql } from './cache-file.ts';
import { checksumOf } from './keys.ts';

/** What the disk needs beside the bytes, on average: the row, the indexes, and the unused end of a page or of a block. */
const OVERHEAD_BYTES = 4_096;

/** The bytes are in a table of their own, because SQLite writes the whole row when a column changes. */
export const IMAGE_SCHEMA = `
  CREATE TABLE images (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE, -- of an original: the name of its file
    channel TEXT NOT NULL,
    is_original INTEGER NOT NULL,
    size INTEGER NOT NULL,
    checksum INTEGER NOT NULL, -- CRC-32 of key and bytes; 0 for an original
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

/** Writing more would block the event loop for too long. */
const MAX_ROW_BYTES = 1024 * 1024;
/** What the largest original needs. No more is evicted in one turn of the event loop. */
const MAX_EVICTED_BYTES = 16 * 1024 * 1024 + OVERHEAD_BYTES;
/** Rows that may be erased in one turn of the event loop. */
const ERASED_ROWS = 16;
/** Storing an original returns up to this number of free pages of `cache.db` to the disk: 2 MiB, more than most originals have. */
const FREED_PAGES = 128;
/** A use is recorded once in this time, so that most reads need no write. */
export const USE_RECORDED_MS = 3_600_000;

/** An original of a channel's image. `digest`: the first 32 hex digits of the SHA-256 of its bytes. */
export interface OriginalId {
  readonly channelId: string;
  readonly digest: string;
}

interface ImageRow {
  readonly key: string;
  readonly is_original: number;
  readonly size: number;
  readonly checksum: number;
  readonly used_at_ms: number;
}

interface ImageTableOptions {
  readonly file: CacheFile;
  /** The folder of originals. */
  readonly folder: string;
  /** The quota of images and originals. Each counts 4 KiB more than its bytes. */
  readonly maxBytes: number;
  readonly runtime: Pick<Runtime, 'clock' | 'failureLog'>;
}

/**
 * Encoded images as rows of the cache file, and originals as files `{channelId}-{digest}` in a folder, each with a row. They
 * have one quota: the least recently used is evicted first, and originals last.
 *
 * Files without a row are deleted when the cache file is opened or created again.
 */
export interface ImageTable {
  get(key: string): Buffer | undefined;
  /** Counts as a use of the image, like reading it. */
  noteUse(key: string): void;
  /** Stores an encoded image of at most 1 MiB. */
  put(channelId: string, key: string, bytes: Buffer): void;
  /** The path of a stored original. Its file may be missing or damaged. */
  findOriginal(id: OriginalId): string | undefined;
  /** Stores an original, and returns its path. */
  putOriginal(id: OriginalId, bytes: Buffer): Promise<string | undefined>;
  /** Removes an original whose file is missing or damaged. */
  discardOriginal(id: OriginalId): void;
  /**
   * Removes the images and originals of these channels, and their bytes from the disk.
   *
   * @returns their number
   * @throws Error when one cannot be removed
   */
  erase(channelIds: readonly string[]): Promise<number>;
  /** Opens the cache file, and waits until files without a row are deleted and the quota is kept. */
  open(): Promise<void>;
  usage(): { readonly entries: number; readonly bytes: number; readonly maxBytes: number };
}

export function createImageTable({ file, folder, maxBytes, runtime }: ImageTableOptions): ImageTable {
  const { clock, failureLog } = runtime;
  let tidying: Promise<void> = Promise.resolve();

  file.onOpen(() => {
    tidying = tidy().catch((error: unknown) => report('not-tidied', { err: error }));
  });

  async function tidy(): Promise<void> {
    createDirectory(folder);
    for await (const { name } of await opendir(folder)) {
      const isOrphan = file.read((sql) => findRow(sql, name) === undefined) === true;
      if (isOrphan) await rm(join(folder, name), { recursive: true, force: true });
    }
    // The quota may be lower than it was.
    while ((file.write((sql) => makeRoom(sql, 0)) ?? 0) > 0) await setImmediate();
  }

  /** Removes the file first: if it cannot be removed, the row stays. */
  function remove(sql: Sql, { key, is_original }: Pick<ImageRow, 'key' | 'is_original'>): void {
    if (is_original === 1) rmSync(join(folder, key), { force: true });
    sql('DELETE FROM images WHERE key = ?').run(key);
  }

  /** Evicts until these bytes have room. Returns the number of evicted bytes. */
  function makeRoom(sql: Sql, bytes: number): number {
    const excess = Math.min(readUsage(sql).bytes + bytes - maxBytes, MAX_EVICTED_BYTES);
    let evicted = 0;
    while (evicted < excess) {
      const victim = sql('SELECT * FROM images ORDER BY is_original, used_at_ms LIMIT 1').get() as ImageRow | undefined;
      if (victim === undefined) break;
      remove(sql, victim);
      evicted += victim.size + OVERHEAD_BYTES;
    }
    return evicted;
  }

  /** Adds an image, and evicts others if it has no room. */
  function add(sql: Sql, channelId: string, row: Omit<ImageRow, 'used_at_ms'>, content?: Buffer): void {
    const { key, is_original, size, checksum } = row;
    makeRoom(sql, size + OVERHEAD_BYTES);
    const { changes, lastInsertRowid } = sql(`
      INSERT INTO images (key, channel, is_original, size, checksum, used_at_ms) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING
    `).run(key, channelId, is_original, size, checksum, clock.now());
    if (changes === 1 && content !== undefined) sql('INSERT INTO contents VALUES (?, ?)').run(lastInsertRowid, content);
  }

  function report(kind: string, fields: object): void {
    failureLog.report({ level: 'warn', key: `images ${kind}`, message: 'images', fields: { kind, ...fields } });
  }

  function note({ key, used_at_ms }: ImageRow): void {
    const sinceMs = clock.now() - used_at_ms;
    // Negative after the clock was set back.
    if (sinceMs >= 0 && sinceMs < USE_RECORDED_MS) return;
    file.write((sql) => sql('UPDATE images SET used_at_ms = ? WHERE key = ?').run(clock.now(), key));
  }

  function discard(row: Pick<ImageRow, 'key' | 'is_original'>): void {
    file.write((sql) => remove(sql, row));
    report('damaged', { key: row.key });
  }

  function findAndNote(key: string): ImageRow | undefined {
    const row = file.read((sql) => findRow(sql, key));
    if (row !== undefined) note(row);
    return row;
  }

  return {
    get(key) {
      const found = file.read((sql) => sql('SELECT * FROM images JOIN contents USING (row) WHERE key = ?').get(key));
      if (found === undefined) return undefined;
      const { content, ...row } = found as unknown as ImageRow & { content: Uint8Array };
      const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
      const isSound = checksumOf(key, bytes) === row.checksum;
      if (isSound) note(row);
      else discard(row);
      return isSound ? bytes : undefined;
    },

    noteUse: (key) => void findAndNote(key),

    put(channelId, key, bytes) {
      const size = bytes.length;
      if (size > MAX_ROW_BYTES || size + OVERHEAD_BYTES > maxBytes) return;
      const row = { key, is_original: 0, size, checksum: checksumOf(key, bytes) };
      file.write((sql) => add(sql, channelId, row, bytes));
    },

    findOriginal(id) {
      const row = findAndNote(originalName(id));
      return row && join(folder, row.key);
    },

    async putOriginal(id, bytes) {
      const key = originalName(id);
      const path = join(folder, key);
      if (findAndNote(key) !== undefined) return path;
      if (bytes.length + OVERHEAD_BYTES > maxBytes) return undefined;
      // The banner and the avatar of a channel may be one image, which must not be written again while it is read.
      const written = `${path}.${randomUUID()}`;
      try {
        createDirectory(folder);
        await writeFile(written, bytes);
        file.writeOrThrow((sql) => {
          add(sql, id.channelId, { key, is_original: 1, size: bytes.length, checksum: 0 });
          // Files cannot use the pages that evicted images have left.
          sql(`PRAGMA incremental_vacuum(${FREED_PAGES})`).all();
          renameSync(written, path);
        });
        return path;
      } catch (error) {
        for (const left of [written, path]) await rm(left, { force: true }).catch(() => undefined);
        report('not-stored', { err: error });
        return undefined;
      }
    },

    discardOriginal: (id) => discard({ key: originalName(id), is_original: 1 }),

    async erase(channelIds) {
      let erased = 0;
      for (const channelId of channelIds) {
        for (let step = ERASED_ROWS; step === ERASED_ROWS; erased += step) {
          step = file.writeOrThrow((sql) => {
            const rows = sql('SELECT * FROM images WHERE channel = ? LIMIT ?').all(channelId, ERASED_ROWS);
            for (const row of rows) remove(sql, row as unknown as ImageRow);
            return rows.length;
          });
          await setImmediate();
        }
      }
      file.emptyLog();
      return erased;
    },

    async open() {
      file.read(() => undefined);
      await tidying;
    },

    usage: () => ({ ...(file.read(readUsage) ?? { entries: 0, bytes: 0 }), maxBytes }),
  };
}

/** All IDs of channels have the same length, so that no two originals have the same name. */
export function originalName({ channelId, digest }: OriginalId): string {
  return `${channelId}-${digest}`;
}

function findRow(sql: Sql, key: string): ImageRow | undefined {
  return sql('SELECT * FROM images WHERE key = ?').get(key) as ImageRow | undefined;
}

function readUsage(sql: Sql) {
  return sql('SELECT entries, bytes FROM image_usage').get() as { entries: number; bytes: number };
}
