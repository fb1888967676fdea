import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Channel, hitOf, type SearchHit } from '../../domain/channel.ts';
import { type ChannelRef, channelRefsOf, type IdentifierKind } from '../../domain/identifier.ts';
import { readDatabase } from '../../lib/sqlite-read-only.ts';
import { type CatalogRecord, channelOf, RECORD_COLUMNS, recordOf } from './record.ts';
import { CatalogUnusableError, explainFailure, explainingFailure, hasOwnTables, PAGE_CACHE_KIB } from './schema.ts';
import { createCatalogSearch } from './search.ts';

/** Readers never wait for writers (WAL), only for the recovery after a crash. */
const BUSY_TIMEOUT_MS = 2_000;
const FIRST_SAMPLE = 'UCPennantSample00000001A';

/** Queries of a catalog. */
export type CatalogReader = ReturnType<typeof createCatalogReader>;

function createCatalogReader(db: DatabaseSync) {
  db.exec(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  const selectRow = preparePerKind(db, 'row');
  const selectRecord = preparePerKind(db, RECORD_COLUMNS);
  const selectAll = db.prepare(`SELECT ${RECORD_COLUMNS} FROM channels ORDER BY row`);
  const selectFirst = db.prepare(`SELECT ${RECORD_COLUMNS} FROM channels ORDER BY row LIMIT ?`);
  const selectByRow = db.prepare(`SELECT ${RECORD_COLUMNS} FROM channels WHERE row = ?`);
  const findRows = createCatalogSearch(db);

  return {
    findRecord({ kind, key }: ChannelRef): CatalogRecord | undefined {
      const row = selectRecord[kind].get(key);
      return row === undefined ? undefined : recordOf(row);
    },
    search(query: string, limit: number): SearchHit[] {
      // All statements see one state of the catalog, because an import may give a row to another channel.
      db.exec('BEGIN');
      try {
        const [named] = channelRefsOf(query).flatMap(({ kind, key }) => selectRow[kind].get(key)?.row ?? []);
        const rows = new Set([...(named === undefined ? [] : [Number(named)]), ...findRows(query, limit)]);
        return [...rows].slice(0, limit).map((row) => hitOf(channelOf(recordOf(selectByRow.get(row) ?? {}))));
      } finally {
        db.exec('COMMIT');
      }
    },
    /** Some channels to show what there is: the sample that explains itself, then those with the most subscribers. */
    examples(count: number): Channel[] {
      const first = selectRecord.id.get(FIRST_SAMPLE);
      const rows = [...(first === undefined ? [] : [first]), ...selectFirst.all(count)];
      const records = new Map(rows.map(recordOf).map((record) => [record.channelId, record]));
      return [...records.values()].slice(0, count).map(channelOf);
    },
    /** All records, those with the most subscribers first. */
    *records(): Generator<CatalogRecord> {
      for (const row of selectAll.iterate()) yield recordOf(row);
    },
    close: (): void => db.close(),
  };
}

function preparePerKind(db: DatabaseSync, columns: string): Record<IdentifierKind, StatementSync> {
  const prepare = (column: string) => db.prepare(`SELECT ${columns} FROM channels WHERE ${column} = ?`);
  return { id: prepare('channel_id'), handle: prepare('handle_key'), username: prepare('username_key') };
}

/**
 * Opens the catalog. `undefined` while it has no tables: nothing was imported yet.
 *
 * @throws CatalogUnusableError, and SQLite's errors (`explainingFailure`)
 */
export function openForReading(path: string): CatalogReader | undefined {
  requireCatalog(path);
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  let reader: CatalogReader | undefined;
  try {
    if (hasOwnTables(db, path)) reader = createCatalogReader(db);
    return reader;
  } finally {
    if (reader === undefined) db.close();
  }
}

/** @throws CatalogUnusableError if the file does not exist */
function requireCatalog(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  throw new CatalogUnusableError(`There is no catalog at ${path}: start the server once, or import channels.`);
}

/**
 * Queries a catalog; `undefined` if it has no tables yet.
 *
 * @throws CatalogUnusableError also if there is no catalog
 */
export async function withReader<T>(path: string, work: (reader: CatalogReader) => Promise<T> | T) {
  const reader = explainingFailure(path, () => openForReading(path));
  try {
    return reader && (await work(reader));
  } catch (error) {
    throw explainFailure(path, error);
  } finally {
    reader?.close();
  }
}

/**
 * Reads a catalog once, also while a service uses it, and leaves no file beside it. `undefined` when there is no catalog.
 *
 * @throws CatalogUnusableError
 */
export function inspectCatalog<T>(path: string, inspect: (db: DatabaseSync) => T): T | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  return explainingFailure(path, () => readDatabase(path, inspect));
}

/**
 * The number of channels; `undefined` when there is no catalog, or one without tables.
 *
 * @throws CatalogUnusableError
 */
export function countChannels(path: string): number | undefined {
  return inspectCatalog(path, (db) => {
    if (!hasOwnTables(db, path)) return undefined;
    return Number(db.prepare('SELECT count(*) AS channels FROM channels').get()?.channels);
  });
}

/** Why a catalog cannot be used. */
export function findCatalogProblem(path: string): CatalogUnusableError | undefined {
  try {
    inspectCatalog(path, (db) => hasOwnTables(db, path));
    return undefined;
  } catch (error) {
    return error instanceof CatalogUnusableError ? error : undefined;
  }
}
