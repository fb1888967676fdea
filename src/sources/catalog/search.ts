import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { foldText, LAST_CHARACTER } from './folded-text.ts';
import { createTextSearch } from './text-search.ts';

/** How many titles with the same beginning are sorted by subscribers; more common beginnings also use the limit below. */
const MAX_SCANNED_TITLES = 20_000;
/** How many full-text matches are searched for titles with such a common beginning, most subscribers first. */
const MAX_TEXT_CANDIDATES = 1_000;

/**
 * Finds the rows that match, at most `limit`: exact handles and titles first, then titles that start with the query, then
 * other matches in handle, title and description. Within each group, channels with more subscribers come first.
 */
export type CatalogSearch = (query: string, limit: number) => number[];

export function createCatalogSearch(db: DatabaseSync): CatalogSearch {
  // Two queries, each in the order of its index: with OR, SQLite would sort all matches.
  const selectByExactTitle = createRowQuery(
    db,
    'SELECT row FROM channels WHERE title_key = :key ORDER BY row LIMIT :limit',
  );
  const selectByExactHandle = createRowQuery(
    db,
    'SELECT row FROM channels WHERE handle_search_key = :key ORDER BY row LIMIT :limit',
  );
  const selectByTitle = createRowQuery(
    db,
    `SELECT row FROM (
       SELECT row FROM channels WHERE title_key >= :key AND title_key < :end ORDER BY title_key LIMIT ${MAX_SCANNED_TITLES}
     ) ORDER BY row LIMIT :limit`,
  );
  const selectFirstTitleNotScanned = createRowQuery(
    db,
    `SELECT row FROM channels WHERE title_key >= :key AND title_key < :end
     ORDER BY title_key LIMIT 1 OFFSET ${MAX_SCANNED_TITLES}`,
  );
  const selectTitle = db.prepare('SELECT title_key FROM channels WHERE row = ?');
  const findByText = createTextSearch(db);

  function findExact(key: string, limit: number): number[] {
    const rows = [...selectByExactTitle({ key, limit }), ...selectByExactHandle({ key, limit })];
    return rows.sort((a, b) => a - b).slice(0, limit);
  }

  function findByTitle(query: string, key: string, limit: number): number[] {
    const range = { key, end: key + LAST_CHARACTER };
    const scanned = selectByTitle({ ...range, limit });
    if (selectFirstTitleNotScanned(range).length === 0) return scanned;
    const others = findByText(query, MAX_TEXT_CANDIDATES).filter((row) => titleOf(row).startsWith(key));
    return [...new Set([...scanned, ...others])].sort((a, b) => a - b);
  }

  function titleOf(row: number): string {
    return String(selectTitle.get(row)?.title_key ?? '');
  }

  return (query, limit) => {
    const key = foldText(query);
    const rows = new Set<number>();
    const steps = [
      () => (key === '' ? [] : findExact(key, limit)),
      () => (key === '' ? [] : findByTitle(query, key, limit)),
      () => findByText(query, limit),
    ];
    for (const step of steps) {
      if (rows.size >= limit) break;
      for (const row of step()) rows.add(row);
    }
    return [...rows].slice(0, limit);
  };
}

type RowQuery = (parameters: Record<string, SQLInputValue>) => number[];

function createRowQuery(db: DatabaseSync, sql: string): RowQuery {
  const statement = db.prepare(sql);
  return (parameters) => statement.all(parameters).map(({ row }) => Number(row));
}

/** How many channels may share one subscriber count. */
export const ROWS_PER_COUNT = 2 ** 21;
/** Counts above this share one row range. Times `ROWS_PER_COUNT` this is the largest integer that JavaScript holds exactly. */
const MAX_DISTINCT_COUNT = 2 ** 32 - 2;

/**
 * The first row number for channels with this many subscribers. More subscribers mean a smaller number; an unknown count
 * comes last.
 *
 * SQLite reads a table and a full-text index in row order. With these numbers the first rows of any query are the channels
 * with the most subscribers, and a search for a letter that every record has can stop after `limit` rows.
 */
export function firstRowOf(subscriberCount: string | null): number {
  const count = subscriberCount === null ? -1 : Math.min(Number(subscriberCount), MAX_DISTINCT_COUNT);
  return (MAX_DISTINCT_COUNT - count) * ROWS_PER_COUNT;
}
