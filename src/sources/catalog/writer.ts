import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from '../../lib/make-directory.ts';
import { emptyChangeLog, ensureChangeLog } from './change-log.ts';
import { RecordRefusedError } from './parse-record.ts';
import { placePicture, removeUnreferencedPictures } from './pictures.ts';
import type { CatalogRecord } from './record.ts';
import { createRecordStatements } from './record-statements.ts';
import { type CatalogPaths, explainingFailure, readSchemaState, upgradeSchema } from './schema.ts';

/** What became of one record of a batch. */
export type Outcome = 'added' | 'replaced' | RecordRefusedError;

/** The one place that changes a catalog. Readers in other processes are never kept waiting (WAL). */
export interface CatalogWriter {
  /**
   * Puts records in, each with its pictures or not at all, replacing those with the same ID; the outcomes are in the
   * order of the records. All of it becomes visible at once.
   */
  putBatch(records: readonly CatalogRecord[], imagesFrom: string): Outcome[];
  /** Takes a channel out; false when there is none with this ID. */
  remove(channelId: string): boolean;
  /** For a catalog that nobody has read yet: its records are no changes. */
  beginChangeLog(): void;
  /** Removes the pictures that no record names any more. */
  removeLeftovers(): void;
  close(): void;
}

/** Another import may hold the lock for one batch. */
const BUSY_TIMEOUT_MS = 30_000;

/**
 * Opens the catalog for writing; makes the database where there is none, and brings an older one up to this version.
 *
 * @throws CatalogUnusableError when the file is damaged, newer or something else's. It is left as it is.
 */
export function openCatalogWriter({ database, images }: CatalogPaths): CatalogWriter {
  makeDirectory(dirname(database));
  const db = explainingFailure(database, () => openForWriting(database));
  const statements = createRecordStatements(db);
  const isPictureReferenced = db.prepare('SELECT 1 FROM channels WHERE banner_file = :name OR avatar_file = :name');

  function put(record: CatalogRecord, imagesFrom: string): Outcome {
    try {
      statements.refuseConflicts(record);
      return statements.put({
        ...record,
        bannerFile: place('bannerFile', record.bannerFile, imagesFrom),
        avatarFile: place('avatarFile', record.avatarFile, imagesFrom),
      });
    } catch (error) {
      if (error instanceof RecordRefusedError) return error;
      throw error;
    }
  }

  function place(field: string, fileName: string | null, imagesFrom: string): string | null {
    return fileName === null ? null : placePicture(field, fileName, imagesFrom, images);
  }

  function inTransaction<T>(work: () => T): T {
    return explainingFailure(database, () => runInTransaction(db, work));
  }

  return {
    putBatch: (records, imagesFrom) =>
      inTransaction(() => {
        const outcomes = records.map((record) => put(record, imagesFrom));
        statements.flush();
        return outcomes;
      }),
    remove: (channelId) =>
      inTransaction(() => {
        const isRemoved = statements.remove(channelId);
        statements.flush();
        return isRemoved;
      }),
    beginChangeLog: () => inTransaction(() => emptyChangeLog(db)),
    removeLeftovers: () =>
      inTransaction(() =>
        removeUnreferencedPictures(images, (name) => isPictureReferenced.get({ name }) !== undefined),
      ),
    close: () => db.close(),
  };
}

function openForWriting(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // First of all whose file it is: the journal mode is written into it.
    const isReady = readSchemaState(db, path) === 'ready';
    if (!isReady) db.exec('PRAGMA journal_mode = WAL');
    // Under the lock, where it looks again: another command may have done it meanwhile.
    runInTransaction(db, () => {
      if (!isReady) upgradeSchema(db);
      ensureChangeLog(db);
    });
    db.exec('PRAGMA synchronous = NORMAL');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function runInTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
