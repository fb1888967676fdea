import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { SearchHit } from '../../domain/channel.ts';
import { recordOf } from './rows.ts';
import { foldText, matchExpression } from './search-text.ts';

/** Titles with a given beginning that are looked at for the most subscribed among them; then also see below. */
const MAX_SCANNED_TITLES = 20_000;
/** The most subscribed text matches that are looked through for titles with so common a beginning. */
const MAX_TEXT_CANDIDATES = 1_000;
/** Sorts after every other character in SQLite's comparison of UTF-8 bytes. */
const LAST_CHARACTER = '\u{10ffff}';

export interface CatalogSearch {
  /**
   * The rows that match, at most `limit`: exact handles and titles, then titles that begin so, then other matches in
   * handle, title and description; within each the most subscribed first (row numbers are in that order).
   */
  findRows(query: string, limit: number): number[];
  hitOf(row: number): SearchHit;
}

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
  const selectHit = db.prepare('SELECT * FROM channels WHERE row = ?');

  function findByTitle(key: string, match: string | undefined, limit: number): number[] {
    const range = { key, end: key + LAST_CHARACTER };
    const scanned = selectByTitle({ ...range, limit });
    if (match === undefined || selectFirstTitleNotScanned(range).length === 0) return scanned;
    const rows = new Set([...scanned, ...selectCandidatesByTitle({ ...range, match, limit })]);
    return [...rows].sort((a, b) => a - b);
  }

  return {
    findRows(query, limit) {
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
    },
    hitOf(row) {
      const { channelId, title, description, customUrl, subscriberCount, videoCount, bannerFile, avatarFile } =
        recordOf(selectHit.get(row) ?? {});
      return {
        channelId,
        title,
        description,
        customUrl,
        subscriberCount,
        videoCount,
        banner: bannerFile === null ? 'absent' : 'present',
        avatar: avatarFile === null ? 'absent' : 'present',
      };
    },
  };
}

type RowQuery = (parameters: Record<string, SQLInputValue>) => number[];

function createRowQuery(db: DatabaseSync, sql: string): RowQuery {
  const statement = db.prepare(sql);
  return (parameters) => statement.all(parameters).map(({ row }) => Number(row));
}
