import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { foldText, hasPhrase, LAST_CHARACTER, tokensOf, wordsOf } from './folded-text.ts';

/** The limits of a search for titles that start with the query, however many do. */
const TITLE_LIMITS = {
  /** Up to this many titles are read and sorted by subscribers. */
  fewTitles: 200,
  /** If there are more, this many of those whose words match are compared by their characters, the most subscribers first. */
  candidates: 1_000,
  /** If too few are found there, this many titles are read, in alphabetical order, and sorted by subscribers. */
  sortedTitles: 5_000,
};

/**
 * Finds the rows that match, at most `limit`: exact handles and titles first, then titles that start with the query, then
 * other matches in handle, title and description. Within each group, channels with more subscribers come first.
 */
export function createCatalogSearch(db: DatabaseSync, { fewTitles, candidates, sortedTitles } = TITLE_LIMITS) {
  const selectWhere = (sql: string) => createRowQuery(db, `SELECT row FROM channels WHERE ${sql} LIMIT :limit`);
  // Two queries, each in the order of its index: with OR, SQLite would sort all matches.
  const selectByExactTitle = selectWhere('title_key = :key ORDER BY row');
  const selectByExactHandle = selectWhere('handle_search_key = :key ORDER BY row');
  const selectByTitle = selectWhere('title_key >= :key AND title_key < :end ORDER BY title_key');
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
    const words = titleStartQuery(key);
    const found = words === '' ? [] : selectByFirstWords({ ...range, words, limit });
    if (found.length === limit) return found;
    const sorted = selectByTitle({ ...range, limit: sortedTitles });
    return [...new Set([...found, ...sorted])].sort((a, b) => a - b);
  }

  return (query: string, limit: number): number[] => {
    const key = foldText(query);
    if (key === '') return [];
    const rows = new Set<number>();
    const steps = [() => findExact(key, limit), () => findByTitle(key, limit), () => findByText(query, limit)];
    for (const step of steps) {
      if (rows.size >= limit) break;
      for (const row of step()) rows.add(row);
    }
    return [...rows].slice(0, limit);
  };
}

/** An FTS5 query for titles that start with the words of a folded text, whatever their punctuation. Empty without words. */
function titleStartQuery(key: string): string {
  const tokens = wordsOf(key).flatMap(tokensOf).slice(0, MAX_QUERY_WORDS);
  const last = tokens.pop();
  return last === undefined ? '' : `title : ^ "${[...tokens, indexedPrefix(last)].join(' ')}" *`;
}

/** How many channels may share one subscriber count. */
export const ROWS_PER_COUNT = 2 ** 21;
/** Counts from this one on share a range of rows. It makes the last row the largest integer that JavaScript holds exactly. */
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

/**
 * The limits of a search, however many channels contain its words. They are shared by the words of the query, so that ten
 * words take about as long as two: some 10 ms at most.
 */
const TEXT_LIMITS = {
  /**
   * If every word is in more channels than its share of this, only the channels of each word with the most subscribers are
   * searched: the share of the smaller number at first, and of the larger one if that is not enough.
   */
  channelsOfCommonWords: [2_000, 10_000] as [few: number, many: number],
  /** How many different words the long prefixes match, in alphabetical order. */
  maxTerms: 60,
  /** How many channels are read to find adjacent characters of an unspaced script, if each character is common. */
  maxReadChannels: 200,
};

/** The longest prefix for which the index need not visit each matching word (schema.ts). */
const MAX_INDEXED_PREFIX = 8;
/** More words than users type. */
const MAX_QUERY_WORDS = 10;
/** Each token costs an index lookup or two. What follows is ignored. */
const MAX_QUERY_TOKENS = 20;

/** The tokens of one word: several in a script without spaces. The last one is a prefix. */
type Tokens = readonly string[];

/**
 * Finds the rows of channels in whose texts each word of the query is the beginning of a word. Channels with more
 * subscribers come first.
 *
 * @param db with the tables of schema.ts
 */
export function createTextSearch(db: DatabaseSync, limits = TEXT_LIMITS) {
  // In memory: the directory for temporary files may be read-only.
  db.exec('PRAGMA temp_store = MEMORY');
  db.exec("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'channel_text', 'instance')");
  const selectTerm = db.prepare('SELECT term FROM temp.terms WHERE term >= ? AND term < ? LIMIT 1');
  // FTS5 begins at the row only if it is an integer, and numbers are bound as floating point.
  const selectRows = createRowQuery(
    db,
    `SELECT rowid AS row FROM channel_text
     WHERE channel_text MATCH :match AND rowid > CAST(:after AS INTEGER) ORDER BY rowid LIMIT :limit`,
  );
  const selectTexts = db.prepare('SELECT custom_url, title, description FROM channels WHERE row = ?');

  function rowsOf(match: string, limit: number, after = -1): number[] {
    return selectRows({ match, limit, after });
  }

  /** The words with the prefix, with one seek each. A prefix query would read every occurrence of all of them. */
  function termsOf(beginning: string, maxTerms: number): string[] {
    const terms: string[] = [];
    let from = beginning;
    while (terms.length < maxTerms) {
      const term = selectTerm.get(from, beginning + LAST_CHARACTER)?.term;
      if (typeof term !== 'string') break;
      terms.push(term);
      // The smallest text after the term.
      from = `${term}\u{1}`;
    }
    return terms;
  }

  /**
   * False if no word starts with the first characters of a long prefix. They are looked up first, because to seek a word that
   * does not exist, FTS5 may read all occurrences of the word before it. Short words, which may have many, are in another
   * index.
   */
  function mayOccur(tokens: Tokens): boolean {
    const last = tokens.at(-1) ?? '';
    const prefix = indexedPrefix(last);
    return prefix === last || rowsOf(`"${prefix}" *`, 1).length > 0;
  }

  function expressionOf(tokens: Tokens, maxTerms: number): string {
    const last = tokens.at(-1) ?? '';
    // Without a term, SQLite's own folding of the prefix may still find some.
    const terms = [...last].length > MAX_INDEXED_PREFIX ? termsOf(last, maxTerms) : [];
    if (terms.length === 0) return `"${tokens.join(' ')}" *`;
    return `(${terms.map((term) => `"${[...tokens.slice(0, -1), term].join(' ')}"`).join(' OR ')})`;
  }

  /** Every token separately, including complete words. */
  function expressionsOfTokens(words: readonly Tokens[], maxTerms: number): string[] {
    return words.flatMap((tokens) => [
      ...tokens.slice(0, -1).map((token) => `"${token}"`),
      expressionOf(tokens.slice(-1), maxTerms),
    ]);
  }

  /** The first rows of a match, each of which is read only once. */
  function createFirstRows(match: string): FirstRows {
    const rows: number[] = [];
    return (count) => {
      if (rows.length < count) rows.push(...rowsOf(match, count - rows.length, rows.at(-1)));
      return rows.slice(0, count);
    };
  }

  /** True if adjacent tokens are also adjacent in the channel's texts. */
  function hasPhrases(row: number, phrases: readonly Tokens[]): boolean {
    const texts = Object.values(selectTexts.get(row) ?? {}).map((text) => foldText(String(text ?? '')));
    return phrases.every((tokens) => texts.some((text) => hasPhrase(text, tokens)));
  }

  function findCommon(words: readonly Tokens[], firstRows: readonly FirstRows[], channels: number, limit: number) {
    const rows = firstRows.map((first) => first(channels)).reduce(intersection);
    const phrases = words.filter(({ length }) => length > 1);
    if (phrases.length === 0) return rows.slice(0, limit);
    const found: number[] = [];
    for (const row of rows.slice(0, limits.maxReadChannels)) {
      if (found.length === limit) break;
      if (hasPhrases(row, phrases)) found.push(row);
    }
    return found;
  }

  return (query: string, limit: number): number[] => {
    const words = queryWords(query);
    if (words.length === 0 || !words.every(mayOccur)) return [];
    const maxTerms = Math.ceil(limits.maxTerms / words.length);
    const expressions = expressionsOfTokens(words, maxTerms);
    const isSpaced = expressions.length === words.length;
    const phrases = isSpaced ? expressions : words.map((tokens) => expressionOf(tokens, maxTerms));
    const [few, many] = limits.channelsOfCommonWords;
    const shareOf = (channels: number) => Math.ceil(channels / expressions.length);
    const findAll = () => rowsOf(phrases.join(' AND '), limit);
    const firstRows = expressions.map(createFirstRows);
    const isAnyRare = (channels: number) => firstRows.some((first) => first(channels + 1).length <= channels);
    // SQLite visits all channels of the rarest word, or of one word as many as it returns.
    if (expressions.length === 1 || isAnyRare(shareOf(few))) return findAll();
    const found = findCommon(words, firstRows, shareOf(few), limit);
    if (found.length === limit) return found;
    if (isAnyRare(shareOf(many))) return findAll();
    return findCommon(words, firstRows, shareOf(many), limit);
  };
}

/** @param sql a query of `row` */
function createRowQuery(db: DatabaseSync, sql: string) {
  // As one text, because thousands of separate values would take several times as long.
  const statement = db.prepare(`SELECT json_group_array(row) AS rows FROM (${sql})`);
  return (parameters: Record<string, SQLInputValue>) => JSON.parse(String(statement.get(parameters)?.rows)) as number[];
}

/** The first `count` rows that match, those with the most subscribers first. */
type FirstRows = (count: number) => number[];

/** The numbers that both lists have. Both are in order. */
function intersection(left: readonly number[], right: readonly number[]): number[] {
  let at = 0;
  return left.filter((row) => {
    while ((right[at] ?? Number.POSITIVE_INFINITY) < row) at += 1;
    return right[at] === row;
  });
}

/** The prefix of a token that the index finds without visiting each matching word. */
function indexedPrefix(token: string): string {
  return [...token].slice(0, MAX_INDEXED_PREFIX).join('');
}

export function queryWords(query: string): Tokens[] {
  const words = distinctPrefixes(wordsOf(foldText(query))).slice(0, MAX_QUERY_WORDS);
  let left = MAX_QUERY_TOKENS;
  return words.flatMap((word) => {
    const tokens = tokensOf(word).slice(0, left);
    left -= tokens.length;
    return tokens.length > 0 ? [tokens] : [];
  });
}

/** Drops words that another word implies: whatever starts with "cook" also starts with "co". */
function distinctPrefixes(words: readonly string[]): string[] {
  const distinct = [...new Set(words)];
  return distinct.filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)));
}
