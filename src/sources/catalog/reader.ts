import { statSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { type Channel, hitOf, type SearchHit } from '../../domain/channel.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { readDatabase } from '../../lib/sqlite.ts';
import { type CatalogRecord, channelOf, RECORD_COLUMNS, recordOf } from './record.ts';
import { CatalogUnusableError, explainFailure, explainingFailure, PAGE_CACHE_KIB, requireTables } from './schema.ts';
import { createCatalogSearch } from './search.ts';

/** Readers never wait for writers (WAL), only for the recovery after a crash. */
const BUSY_TIMEOUT_MS = 2_000;
const FIRST_SAMPLE = 'UCPennantSample00000001A';

/** Queries of a catalog. */
export interface CatalogReader {
  findRecord(ref: ChannelRef): CatalogRecord | undefined;
  findChannel(ref: ChannelRef): Channel | undefined;
  /** The channels that match, best first, at most `limit`. */
  search(query: string, limit: number): SearchHit[];
  /** Some channels as examples: the first sample, which has all fields, then those with the most subscribers. */
  examples(count: number): Channel[];
  /** All records, those with the most subscribers first. */
  records(): Generator<CatalogRecord>;
  close(): void;
}

function createCatalogReader(db: DatabaseSync): CatalogReader {
  db.exec(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  const columns = `${RECORD_COLUMNS}, imported_at_ms AS importedAtMs`;
  const selectOne = preparePerKind(db, columns);
  const selectAll = db.prepare(`SELECT ${RECORD_COLUMNS} FROM channels ORDER BY row`);
  const selectFirst = db.prepare(`SELECT ${columns} FROM channels ORDER BY row LIMIT ?`);
  const selectByRow = db.prepare(`SELECT ${columns} FROM channels WHERE row = ?`);
  const findRows = createCatalogSearch(db);

  return {
    findRecord({ kind, key }) {
      const row = selectOne[kind]?.get(key);
      if (row === undefined) return undefined;
      const { importedAtMs: _, ...record } = row;
      return recordOf(record);
    },
    findChannel({ kind, key }) {
      const row = selectOne[kind]?.get(key);
      return row === undefined ? undefined : channelIn(row);
    },
    search(query, limit) {
      // In one transaction, because an import between the statements may give a row to another channel.
      db.exec('BEGIN');
      try {
        return findRows(query, limit).map((row) => hitOf(channelIn(selectByRow.get(row) ?? {})));
      } finally {
        db.exec('COMMIT');
      }
    },
    examples(count) {
      const first = selectOne.id.get(FIRST_SAMPLE);
      const rows = [...(first === undefined ? [] : [first]), ...selectFirst.all(count)];
      const channels = new Map(rows.map(channelIn).map((channel) => [channel.channelId, channel]));
      return [...channels.values()].slice(0, count);
    },
    *records() {
      for (const row of selectAll.iterate()) yield recordOf(row);
    },
    close: () => db.close(),
  };
}

function channelIn({ importedAtMs, ...record }: Record<string, SQLOutputValue>): Channel {
  return channelOf(recordOf(record), Number(importedAtMs));
}

/** A catalog has no custom names. */
function preparePerKind(db: DatabaseSync, columns: string) {
  const prepare = (column: string) => db.prepare(`SELECT ${columns} FROM channels WHERE ${column} = ?`);
  return {
    id: prepare('channel_id'),
    handle: prepare('handle_key'),
    username: prepare('username_key'),
    custom: undefined,
  };
}

/** @throws CatalogUnusableError, and SQLite's errors (`explainingFailure`) */
export function openForReading(path: string): CatalogReader {
  requireCatalog(path);
  const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    requireTables(db, path);
    return createCatalogReader(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** @throws CatalogUnusableError if the file does not exist */
function requireCatalog(path: string): void {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return;
  throw new CatalogUnusableError(`There is no catalog at ${path}: start the server once, or import channels.`);
}

/**
 * Queries a catalog.
 *
 * @throws CatalogUnusableError also if there is no catalog
 */
export async function withReader<T>(path: string, work: (reader: CatalogReader) => Promise<T> | T): Promise<T> {
  const reader = explainingFailure(path, () => openForReading(path));
  try {
    return await work(reader);
  } catch (error) {
    throw explainFailure(path, error);
  } finally {
    reader.close();
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
 * The number of channels; `undefined` when there is no catalog.
 *
 * @throws CatalogUnusableError
 */
export function countChannels(path: string): number | undefined {
  return inspectCatalog(path, (db) => {
    requireTables(db, path);
    return Number(db.prepare('SELECT count(*) AS channels FROM channels').get()?.channels);
  });
}

/** Why a catalog cannot be used. */
export function findCatalogProblem(path: string): CatalogUnusableError | undefined {
  try {
    inspectCatalog(path, (db) => requireTables(db, path));
    return undefined;
  } catch (error) {
    return error instanceof CatalogUnusableError ? error : undefined;
  }
}
