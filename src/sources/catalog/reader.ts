import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SearchHit } from '../../domain/channel.ts';
import { type ChannelRef, channelRefsOf, type IdentifierKind } from '../../domain/identifier.ts';
import { openToLook } from '../../lib/sqlite-read-only.ts';
import { type CatalogRecord, hitOf, RECORD_COLUMNS, recordOf } from './record.ts';
import { CatalogUnusableError, CatalogVersionError, explainingFailure, hasOwnTables, openExisting } from './schema.ts';
import { createCatalogSearch } from './search.ts';

/** Queries of a catalog. */
export interface CatalogReader {
  findRecord(ref: ChannelRef): CatalogRecord | undefined;
  search(query: string, limit: number): SearchHit[];
  /** All records, most subscribed first. */
  records(): Iterable<CatalogRecord>;
}

/** Enough for the inner pages of the indexes of a million channels. SQLite's default is 2,000. */
const PAGE_CACHE_KIB = 8_000;

function createCatalogReader(db: DatabaseSync): CatalogReader {
  db.exec(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  const selectRecord = preparePerKind(db, (column) => `SELECT ${RECORD_COLUMNS} FROM channels WHERE ${column} = ?`);
  const selectRow = preparePerKind(db, (column) => `SELECT row FROM channels WHERE ${column} = ?`);
  const selectAll = db.prepare(`SELECT ${RECORD_COLUMNS} FROM channels ORDER BY row`);
  const selectByRow = db.prepare(`SELECT ${RECORD_COLUMNS} FROM channels WHERE row = ?`);
  const findRows = createCatalogSearch(db);

  function findNamedRow(query: string): number | undefined {
    for (const ref of channelRefsOf(query)) {
      const found = selectRow[ref.kind].get(ref.key);
      if (found !== undefined) return Number(found.row);
    }
    return undefined;
  }

  return {
    findRecord(ref) {
      const row = selectRecord[ref.kind].get(ref.key);
      return row === undefined ? undefined : recordOf(row);
    },
    search(query, limit) {
      const named = findNamedRow(query);
      const rows = new Set([...(named === undefined ? [] : [named]), ...findRows(query, limit)]);
      return [...rows].slice(0, limit).map((row) => hitOf(recordOf(selectByRow.get(row) ?? {})));
    },
    *records() {
      for (const row of selectAll.iterate()) yield recordOf(row);
    },
  };
}

function preparePerKind(db: DatabaseSync, sqlFor: (column: string) => string): Record<IdentifierKind, StatementSync> {
  return {
    id: db.prepare(sqlFor('channel_id')),
    handle: db.prepare(sqlFor('handle_key')),
    username: db.prepare(sqlFor('username_key')),
  };
}

/** Readers never wait for writers (WAL), only for the recovery after a crash. */
const BUSY_TIMEOUT_MS = 2_000;

/** A catalog file that other processes may replace, damage, repair and fill while it is read. */
export interface OpenCatalog {
  /**
   * Queries the file that has the name now. `undefined` while it has no tables: nothing was imported yet.
   *
   * @throws CatalogUnusableError; the next call opens the file again
   */
  query<T>(work: (reader: CatalogReader) => T): T | undefined;
  close(): void;
}

export interface OpenedCatalog {
  readonly reader: CatalogReader;
  close(): void;
}

export function createOpenCatalog(path: string): OpenCatalog {
  let opened: OpenedCatalog | undefined;
  let openedFile: string | undefined;

  function close(): void {
    opened?.close();
    opened = undefined;
  }

  function ensureOpen(): OpenedCatalog | undefined {
    const file = fileIdentity(path);
    if (file !== openedFile) close();
    openedFile = file;
    opened ??= openForReading(path);
    return opened;
  }

  return {
    query(work) {
      try {
        return explainingFailure(path, () => {
          const current = ensureOpen();
          return current === undefined ? undefined : work(current.reader);
        });
      } catch (error) {
        close();
        throw error;
      }
    },
    close,
  };
}

/** Changes when another file gets the name. */
function fileIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
}

/**
 * Opens the catalog. `undefined` while it has no tables.
 *
 * @throws CatalogUnusableError
 */
export function openForReading(path: string): OpenedCatalog | undefined {
  const db = openExisting(path, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
  try {
    if (explainingFailure(path, () => hasOwnTables(db, path))) {
      return { reader: createCatalogReader(db), close: () => db.close() };
    }
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return undefined;
}

/**
 * Reads a catalog once, also while a service uses it, and leaves no file beside it. `undefined` when there is no catalog,
 * or one without tables.
 *
 * @throws CatalogUnusableError
 */
function inspectCatalog<T>(path: string, inspect: (db: DatabaseSync) => T): T | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  return explainingFailure(path, () => {
    const db = openToLook(path);
    try {
      return hasOwnTables(db, path) ? inspect(db) : undefined;
    } finally {
      db.close();
    }
  });
}

/**
 * The number of channels; `undefined` when there is no catalog, or one without tables.
 *
 * @throws CatalogUnusableError
 */
export function countChannels(path: string): number | undefined {
  return inspectCatalog(path, (db) => Number(db.prepare('SELECT count(*) AS channels FROM channels').get()?.channels));
}

/** Why a catalog cannot be used. */
export function findCatalogProblem(path: string): string | undefined {
  return findProblem(path, CatalogUnusableError);
}

/** Why this version cannot use a catalog of another version. A server starts despite all other problems. */
export function findVersionProblem(path: string): string | undefined {
  return findProblem(path, CatalogVersionError);
}

function findProblem(path: string, kind: typeof CatalogUnusableError | typeof CatalogVersionError): string | undefined {
  try {
    inspectCatalog(path, () => undefined);
    return undefined;
  } catch (error) {
    return error instanceof kind ? error.message : undefined;
  }
}
