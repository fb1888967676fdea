import type { DatabaseSync } from 'node:sqlite';
import { foldText, LAST_CHARACTER, tokensOf, wordsOf } from './folded-text.ts';
import { createRowQuery, createTextSearch, indexedPrefix, MAX_QUERY_WORDS } from './text-search.ts';

/** The limits of a search for titles that start with the query, however many do. */
const LIMITS = {
  /** Up to this many titles are read and sorted by subscribers. */
  fewTitles: 200,
  /** With more titles, this many whose words match are compared by their characters, those with the most subscribers. */
  candidates: 1_000,
  /** If too few are found there, this many titles are read, in alphabetical order, and sorted by subscribers. */
  sortedTitles: 5_000,
};

/**
 * Finds the rows that match, at most `limit`: exact handles and titles first, then titles that start with the query, then
 * other matches in handle, title and description. Within each group, channels with more subscribers come first.
 */
export function createCatalogSearch(db: DatabaseSync, limits = LIMITS) {
  const { fewTitles, candidates, sortedTitles } = limits;
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
    'SELECT row FROM channels WHERE title_key >= :key AND title_key < :end ORDER BY title_key LIMIT :limit',
  );
  // FTS5 finds channels in row order. SQLite compares their titles one by one until enough match.
  const selectByFirstWords = createRowQuery(
    db,
    `SELECT row FROM
       (SELECT rowid FROM channel_text WHERE channel_text MATCH :words ORDER BY rowid LIMIT ${candidates}) AS texts
     CROSS JOIN channels ON row = texts.rowid
     WHERE title_key >= :key AND title_key < :end LIMIT :limit`,
  );
  const findByText = createTextSearch(db);

  function findExact(key: string, limit: number): number[] {
    const rows = [...selectByExactTitle({ key, limit }), ...selectByExactHandle({ key, limit })];
    return rows.sort((a, b) => a - b).slice(0, limit);
  }

  function findByTitle(key: string, limit: number): number[] {
    const range = { key, end: key + LAST_CHARACTER };
    const few = selectByTitle({ ...range, limit: fewTitles + 1 });
    if (few.length <= fewTitles) return few.sort((a, b) => a - b);
    const words = firstWords(key);
    const found = words === '' ? [] : selectByFirstWords({ ...range, words, limit });
    if (found.length === limit) return found;
    const sorted = selectByTitle({ ...range, limit: sortedTitles });
    return [...new Set([...found, ...sorted])].sort((a, b) => a - b);
  }

  return (query: string, limit: number): number[] => {
    const key = foldText(query);
    const rows = new Set<number>();
    const steps = [
      () => (key === '' ? [] : findExact(key, limit)),
      () => (key === '' ? [] : findByTitle(key, limit)),
      () => findByText(query, limit),
    ];
    for (const step of steps) {
      if (rows.size >= limit) break;
      for (const row of step()) rows.add(row);
    }
    return [...rows].slice(0, limit);
  };
}

/** Matches titles that start with the words of a folded text, whatever their punctuation. Empty for a text without words. */
function firstWords(key: string): string {
  const tokens = wordsOf(key).flatMap(tokensOf).slice(0, MAX_QUERY_WORDS);
  const last = tokens.pop();
  return last === undefined ? '' : `title : ^ "${[...tokens, indexedPrefix(last)].join(' ')}" *`;
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
