import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { createTables } from '../store/database.ts';

/** What a row holds. Originals are evicted last. */
export type RowKind = 'original' | 'encoded';

export interface ImagePaths {
  readonly database: string;
  /** The folder of originals and of encoded images that are too large for a row. */
  readonly files: string;
  /** Where earlier versions kept images. */
  readonly former: string;
}

export function imagePaths(dataDir: string): ImagePaths {
  return {
    database: join(dataDir, 'images.db'),
    files: join(dataDir, 'images.db-files'),
    former: join(dataDir, 'images'),
  };
}

/** `PRAGMA user_version`. It goes up when the tables change. A file of another version is created again. */
const SCHEMA_VERSION = 2;
export const PAGE_BYTES = 16_384;
/** The block size of ext4, XFS and most other file systems. */
const BLOCK_BYTES = 4_096;
/** The row without its bytes, and its part of the indexes. */
const ROW_BYTES = 512;

/** The bytes are in a table of their own: SQLite writes the whole row when a column changes. */
const SCHEMA = `
  CREATE TABLE images (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    kind TEXT NOT NULL, -- original or encoded
    size INTEGER NOT NULL, -- bytes of the image
    space INTEGER NOT NULL, -- bytes that count against the quota
    checksum INTEGER NOT NULL, -- CRC-32 of key and image
    used_at_ms INTEGER NOT NULL,
    file TEXT -- the name of the file with the image; NULL: it is in this database
  );
  CREATE INDEX images_by_use ON images (kind = 'original', used_at_ms);
  CREATE INDEX images_by_channel ON images (channel);
  CREATE INDEX images_by_file ON images (file) WHERE file IS NOT NULL;
  CREATE TABLE contents (row INTEGER PRIMARY KEY, content BLOB NOT NULL);
  CREATE TABLE sums (images INTEGER NOT NULL, in_files INTEGER NOT NULL);
  INSERT INTO sums VALUES (0, 0);
  CREATE TRIGGER images_added AFTER INSERT ON images BEGIN
    UPDATE sums SET images = images + 1, in_files = in_files + iif(new.file IS NULL, 0, new.space);
  END;
  CREATE TRIGGER images_removed AFTER DELETE ON images BEGIN
    DELETE FROM contents WHERE row = old.row;
    UPDATE sums SET images = images - 1, in_files = in_files - iif(old.file IS NULL, 0, old.space);
  END;
`;

/** What an image of this size counts against the quota. */
export function spaceOf(size: number, isFile: boolean): number {
  return ROW_BYTES + (isFile ? Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES : size);
}

/** A row without its bytes. */
export interface ImageRow {
  readonly row: number;
  readonly size: number;
  readonly checksum: number;
  readonly usedAtMs: number;
  readonly file: string | null;
}

const COLUMNS = 'row, size, checksum, used_at_ms AS usedAtMs, file';

/** All statements on the tables. Times are wall-clock times. */
export interface ImageStatements {
  readonly find: StatementSync;
  readonly content: StatementSync;
  readonly add: StatementSync;
  readonly addContent: StatementSync;
  readonly remove: StatementSync;
  readonly use: StatementSync;
  readonly leastRecentlyUsed: StatementSync;
  readonly usedAfter: StatementSync;
  readonly unusedSince: StatementSync;
  readonly ofChannel: StatementSync;
  readonly withFile: StatementSync;
  readonly sums: StatementSync;
  readonly pages: StatementSync;
}

export function prepareStatements(db: DatabaseSync): ImageStatements {
  return {
    find: db.prepare(`SELECT ${COLUMNS} FROM images WHERE key = ?`),
    content: db.prepare('SELECT content FROM contents WHERE row = ?'),
    add: db.prepare(`
      INSERT INTO images (key, channel, kind, size, space, checksum, used_at_ms, file) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    addContent: db.prepare('INSERT INTO contents (row, content) VALUES (?, ?)'),
    remove: db.prepare('DELETE FROM images WHERE row = ?'),
    use: db.prepare('UPDATE images SET used_at_ms = ? WHERE row = ?'),
    leastRecentlyUsed: db.prepare(`
      SELECT ${COLUMNS} FROM images ORDER BY kind = 'original', used_at_ms LIMIT 1`),
    usedAfter: db.prepare(`
      SELECT ${COLUMNS} FROM images WHERE (kind = 'original') IN (0, 1) AND used_at_ms > ? LIMIT 1`),
    unusedSince: db.prepare(`
      SELECT ${COLUMNS} FROM images WHERE (kind = 'original') IN (0, 1) AND used_at_ms < ? LIMIT ?`),
    ofChannel: db.prepare(`SELECT ${COLUMNS} FROM images WHERE channel = ? LIMIT ?`),
    withFile: db.prepare('SELECT row FROM images WHERE file = ?'),
    sums: db.prepare('SELECT images, in_files AS inFiles FROM sums'),
    pages: db.prepare(
      'SELECT page_count AS pages, freelist_count AS free FROM pragma_page_count, pragma_freelist_count',
    ),
  };
}

/** @throws DamagedFileError when the file is of another version */
export function prepareSchema(db: DatabaseSync): void {
  // Before the first page is written.
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL`);
  createTables(db, SCHEMA, SCHEMA_VERSION);
}
