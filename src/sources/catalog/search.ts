import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

/** How many titles with the same beginning are sorted by subscribers; more common beginnings also use the limit below. */
const MAX_SCANNED_TITLES = 20_000;
/** How many full-text matches are searched for titles with such a common beginning, most subscribers first. */
const MAX_TEXT_CANDIDATES = 1_000;
/** Sorts after every other character in SQLite's comparison of UTF-8 bytes. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * Finds the rows that match, at most `limit`: exact handles and titles first, then titles that start with the query, then
 * other matches in handle, title and description. Within each group, channels with more subscribers come first.
 */
export type CatalogSearch = (query: string, limit: number) => number[];

export function createCatalogSearch(db: DatabaseSync): CatalogSearch {
  const selectExact = createRowQuery(
    db,
    'SELECT row FROM channels WHERE title_key = :key OR handle_search_key = :key ORDER BY row LIMIT :limit',
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
  const selectCandidatesByTitle = createRowQuery(
    db,
    `SELECT row FROM (
       SELECT rowid FROM channel_text WHERE channel_text MATCH :match ORDER BY rowid LIMIT ${MAX_TEXT_CANDIDATES}
     ) AS candidates JOIN channels ON row = candidates.rowid
     WHERE title_key >= :key AND title_key < :end ORDER BY row LIMIT :limit`,
  );
  const selectByText = createRowQuery(
    db,
    'SELECT rowid AS row FROM channel_text WHERE channel_text MATCH :match ORDER BY rowid LIMIT :limit',
  );

  function findByTitle(key: string, match: string | undefined, limit: number): number[] {
    const range = { key, end: key + LAST_CHARACTER };
    const scanned = selectByTitle({ ...range, limit });
    if (match === undefined || selectFirstTitleNotScanned(range).length === 0) return scanned;
    const rows = new Set([...scanned, ...selectCandidatesByTitle({ ...range, match, limit })]);
    return [...rows].sort((a, b) => a - b);
  }

  return (query, limit) => {
    const key = foldText(query);
    const match = matchExpression(query);
    const rows = new Set<number>();
    const steps = [
      () => (key === '' ? [] : selectExact({ key, limit })),
      () => (key === '' ? [] : findByTitle(key, match, limit)),
      () => (match === undefined ? [] : selectByText({ match, limit })),
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

/**
 * Makes texts comparable: ignores compatibility forms, letter case, diacritics and repeated white space.
 *
 * Only U+0300 to U+036F are removed. In other scripts combining marks distinguish words (Indic vowel signs, voiced
 * Japanese kana).
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .trim()
    .replace(/\s+/g, ' ');
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts written without spaces between words. */
const UNSPACED_CHARACTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
/** More words than people type; each word costs one index lookup. */
const MAX_QUERY_WORDS = 10;

/** A text for the full-text index: folded, with each character of an unspaced script as its own word. */
export function indexedText(text: string): string {
  return foldText(text).replace(UNSPACED_CHARACTER, ' $& ');
}

/**
 * The FTS5 query for records in which every word of the query starts some word, in any field. `undefined` when the query
 * has no word. Words are quoted, so no character of the query is FTS5 syntax.
 */
export function matchExpression(query: string): string | undefined {
  const words = distinctPrefixes(foldText(query).match(WORD) ?? []).slice(0, MAX_QUERY_WORDS);
  if (words.length === 0) return undefined;
  return words.map((word) => `"${word.replace(UNSPACED_CHARACTER, ' $& ')}" *`).join(' AND ');
}

/** Drops words that another word implies: whatever starts with "cook" also starts with "co". */
function distinctPrefixes(words: readonly string[]): string[] {
  const distinct = [...new Set(words)];
  return distinct.filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)));
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
