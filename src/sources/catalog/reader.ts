import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SearchHit } from '../../domain/channel.ts';
import { channelRefsOf } from '../../domain/channel-url.ts';
import type { ChannelRef, IdentifierKind } from '../../domain/identifier.ts';
import type { CatalogRecord } from './record.ts';
import { RECORD_COLUMNS, recordOf } from './rows.ts';
import { createCatalogSearch } from './search-query.ts';

/** The questions that a catalog answers. */
export interface CatalogReader {
  findRecord(ref: ChannelRef): CatalogRecord | undefined;
  search(query: string, limit: number): SearchHit[];
  /** All records, most subscribed first. */
  records(): Iterable<CatalogRecord>;
}

/** Prepares the questions on an open catalog with our tables. */
export function createCatalogReader(db: DatabaseSync): CatalogReader {
  const selectRecord = preparePerKind(db, (column) => `SELECT ${RECORD_COLUMNS} FROM channels WHERE ${column} = ?`);
  const selectRow = preparePerKind(db, (column) => `SELECT row FROM channels WHERE ${column} = ?`);
  const selectAll = db.prepare(`SELECT ${RECORD_COLUMNS} FROM channels ORDER BY row`);
  const search = createCatalogSearch(db);

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
      const rows = new Set([...(named === undefined ? [] : [named]), ...search.findRows(query, limit)]);
      return [...rows].slice(0, limit).map(search.hitOf);
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
