import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { LAST_MODIFIED_STEP_MS } from '../../domain/channel.ts';
import { makeDirectory } from '../../lib/file-system.ts';
import { inTransaction, isFullDisk } from '../../lib/sqlite.ts';
import { indexedText } from './folded-text.ts';
import { placeImage, removeUnreferencedImages } from './image-files.ts';
import { inspectCatalog } from './reader.ts';
import { type CatalogRecord, indexKeysOf, RECORD_COLUMNS, RecordRefusedError, recordOf } from './record.ts';
import {
  type CatalogPaths,
  createSchema,
  explainFailure,
  explainingFailure,
  hasTables,
  PAGE_CACHE_KIB,
} from './schema.ts';
import { firstRowOf, ROWS_PER_COUNT } from './search.ts';

export type Outcome = 'added' | 'replaced' | RecordRefusedError;

/** Writes to the catalog. Readers in other processes never wait for it (WAL). */
export interface CatalogWriter {
  /**
   * Adds records with their images, and replaces records with the same ID. The outcomes are in the order of the records; a
   * refusal in their place is its own outcome. The whole batch becomes visible at once.
   *
   * @param onWarning called with the index of a record whose handle or user name leads to another channel
   */
  putBatch(
    records: readonly (CatalogRecord | RecordRefusedError)[],
    imagesFrom: string,
    onWarning?: (index: number, warning: string) => void,
  ): Outcome[];
  /** Removes a channel; false if there is none with this ID. */
  remove(channelId: string): boolean;
  /** Removes the images that no record names. */
  removeLeftovers(): void;
  close(): void;
}

/** Another import may hold the lock for one batch. */
const BUSY_TIMEOUT_MS = 30_000;

export const IS_IMAGE_REFERENCED = 'SELECT 1 FROM channels WHERE banner_file = :name OR avatar_file = :name';

/** `images` is `null`: images are only checked. */
type WriterPaths = { readonly database: string; readonly images: string | null };

/**
 * Opens the catalog for writing: the only code that changes a catalog.
 * Creates the database if there is none.
 *
 * @throws CatalogUnusableError if the file is damaged or not a catalog; it is not changed then
 */
export function openCatalogWriter({ database, images }: WriterPaths): CatalogWriter {
  makeDirectory(dirname(database));
  const db = explainingFailure(database, () => openForWriting(database));

  function put(
    batch: Batch,
    given: CatalogRecord | RecordRefusedError,
    imagesFrom: string,
    warn: (warning: string) => void,
  ): Outcome {
    if (given instanceof RecordRefusedError) return given;
    const record = batch.withoutForeignNames(given, warn);
    const place = (field: 'bannerFile' | 'avatarFile') => {
      const name = record[field];
      return name === null ? null : placeImage(field, name, imagesFrom, images);
    };
    try {
      return batch.put({ ...record, bannerFile: place('bannerFile'), avatarFile: place('avatarFile') });
    } catch (error) {
      if (error instanceof RecordRefusedError) return error;
      throw error;
    }
  }

  function inBatch<T>(work: (batch: Batch) => T): T {
    return explainingFailure(database, () =>
      inTransaction(db, () => {
        const batch = beginBatch(db);
        const result = work(batch);
        batch.flush();
        return result;
      }),
    );
  }

  return {
    putBatch: (records, imagesFrom, onWarning = () => {}) =>
      inBatch((batch) =>
        records.map((record, index) => put(batch, record, imagesFrom, (warning) => onWarning(index, warning))),
      ),
    remove: (channelId) => inBatch((batch) => batch.remove(channelId)),
    removeLeftovers() {
      if (images === null) return;
      inBatch(() => {
        const isReferenced = db.prepare(IS_IMAGE_REFERENCED);
        removeUnreferencedImages(images, (name) => isReferenced.get({ name }) !== undefined);
      });
    },
    close: () => db.close(),
  };
}

/**
 * Changes a catalog, which is created if there is none, then removes the images that no record names.
 *
 * @throws CatalogUnusableError
 */
export async function withWriter<T>(paths: WriterPaths, work: (writer: CatalogWriter) => Promise<T> | T) {
  const writer = openCatalogWriter(paths);
  try {
    const result = await work(writer);
    writer.removeLeftovers();
    return result;
  } finally {
    writer.close();
  }
}

/**
 * Like `withWriter`, but changes a temporary copy of the catalog and stores no images, so that the outcomes are those of
 * a real import.
 *
 * @throws CatalogUnusableError if the catalog is damaged or not a catalog
 */
export async function withDryRun<T>({ database }: CatalogPaths, work: (writer: CatalogWriter) => Promise<T> | T) {
  const directory = mkdtempSync(join(tmpdir(), 'pennant-dry-run-'));
  const copy = join(directory, 'catalog.db');
  try {
    inspectCatalog(database, (db) => {
      hasTables(db, database);
      try {
        db.prepare('VACUUM INTO ?').run(copy);
      } catch (error) {
        throw isFullDisk(error) ? explainFailure(copy, error) : error;
      }
    });
    return await withWriter({ database: copy, images: null }, work);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function openForWriting(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // Checked before the journal mode is written into the file.
    if (!hasTables(db, path)) db.exec('PRAGMA journal_mode = WAL');
    // Checked again under the lock, because another command may have created the tables in the meantime.
    inTransaction(db, () => createSchema(db, path));
    db.exec(`PRAGMA synchronous = NORMAL; PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

type Batch = ReturnType<typeof beginBatch>;

/** Adds and removes records inside the caller's write transaction. */
function beginBatch(db: DatabaseSync) {
  const textsToDelete = new Set<number>();
  const textsToInsert = new Map<number, CatalogRecord>();
  const selectFormer = db.prepare(
    `SELECT row, imported_at_ms AS importedAtMs, ${RECORD_COLUMNS} FROM channels WHERE channel_id = ?`,
  );
  const selectOtherOwner = {
    customUrl: db.prepare('SELECT channel_id FROM channels WHERE handle_key = ? AND channel_id <> ?'),
    username: db.prepare('SELECT channel_id FROM channels WHERE username_key = ? AND channel_id <> ?'),
  };
  const selectLastRow = db.prepare('SELECT max(row) AS row FROM channels WHERE row >= ? AND row < ?');
  const deleteRow = db.prepare('DELETE FROM channels WHERE row = ?');
  const insertRow = db.prepare(`
    INSERT INTO channels (row, channel_id, title_key, handle_key, handle_search_key, username_key, banner_file,
      avatar_file, title, custom_url, username, published_at, country, subscriber_count, view_count, video_count,
      description, links, imported_at_ms)
    VALUES (:row, :channelId, :titleKey, :handleKey, :handleSearchKey, :usernameKey, :bannerFile,
      :avatarFile, :title, :customUrl, :username, :publishedAt, :country, :subscriberCount, :viewCount, :videoCount,
      :description, :links, :importedAtMs)`);
  const deleteText = db.prepare('DELETE FROM channel_text WHERE rowid = ?');
  const insertText = db.prepare('INSERT INTO channel_text (rowid, handle, title, description) VALUES (?, ?, ?, ?)');

  function findFormer(channelId: string) {
    const found = selectFormer.get(channelId);
    if (found === undefined) return undefined;
    const { row, importedAtMs, ...columns } = found;
    return { row: Number(row), importedAtMs: Number(importedAtMs), record: recordOf(columns) };
  }

  function allocateRow(subscriberCount: string | null, formerRow: number | undefined): number {
    const first = firstRowOf(subscriberCount);
    const end = first + ROWS_PER_COUNT;
    if (formerRow !== undefined && formerRow >= first && formerRow < end) return formerRow;
    const last = selectLastRow.get(first, end)?.row;
    const next = typeof last === 'number' ? last + 1 : first;
    if (next < end) return next;
    throw new RecordRefusedError('subscriberCount', `shared by more than ${ROWS_PER_COUNT} channels`);
  }

  function takeOut(row: number): void {
    deleteRow.run(row);
    if (!textsToInsert.delete(row)) textsToDelete.add(row);
  }

  return {
    /** Removes names that lead to another channel. A name leads to the channel that had it first. */
    withoutForeignNames(record: CatalogRecord, warn: (warning: string) => void): CatalogRecord {
      const { handleKey, usernameKey } = indexKeysOf(record);
      const keys = { customUrl: handleKey, username: usernameKey };
      let kept = record;
      for (const field of ['customUrl', 'username'] as const) {
        const owner = selectOtherOwner[field].get(keys[field], record.channelId)?.channel_id;
        if (owner === undefined) continue;
        warn(`${field}: ${record[field]} leads to the channel ${owner}, and is not stored for ${record.channelId}`);
        kept = { ...kept, [field]: null };
      }
      return kept;
    },
    /** @throws RecordRefusedError if there is no row left for the subscriber count */
    put(record: CatalogRecord): 'added' | 'replaced' {
      const former = findFormer(record.channelId);
      // A nightly import of the same file changes nothing.
      if (isDeepStrictEqual(former?.record, record)) return 'replaced';
      const row = allocateRow(record.subscriberCount, former?.row);
      if (former !== undefined) takeOut(former.row);
      const links = record.links === null ? null : JSON.stringify(record.links);
      // Later than the former time even if the clock was set back, because it is the `Last-Modified` of the new image.
      const importedAtMs = Math.max(Date.now(), (former?.importedAtMs ?? 0) + LAST_MODIFIED_STEP_MS);
      insertRow.run({ ...record, ...indexKeysOf(record), row, links, importedAtMs });
      textsToInsert.set(row, record);
      return former === undefined ? 'added' : 'replaced';
    },
    remove(channelId: string): boolean {
      const former = findFormer(channelId);
      if (former === undefined) return false;
      takeOut(former.row);
      return true;
    },
    /**
     * Ends the batch: updates the full-text index, in row order, because FTS5 writes a new segment for each row number that
     * is smaller than the previous one.
     */
    flush(): void {
      for (const row of [...textsToDelete].sort((a, b) => a - b)) deleteText.run(row);
      const insertions = [...textsToInsert].sort(([a], [b]) => a - b);
      for (const [row, { customUrl, title, description }] of insertions) {
        insertText.run(row, indexedText(customUrl ?? ''), indexedText(title), indexedText(description ?? ''));
      }
    },
  };
}
