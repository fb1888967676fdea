import type { DatabaseSync } from 'node:sqlite';
import { foldText, indexedText, LAST_CHARACTER, tokensOf, wordsOf } from './folded-text.ts';

/** The limits of a search, however many channels contain its words. */
export interface TextSearchLimits {
  /**
   * If every word is in more channels than this, only the channels of each word with the most subscribers are searched:
   * this many at first, and the larger number if that is not enough.
   */
  readonly channelsOfCommonWord: readonly [number, number];
  /** How many different words a long prefix matches, in alphabetical order. */
  readonly maxTerms: number;
  /** How many channels are read to find adjacent characters of an unspaced script, if each character is common. */
  readonly maxReadChannels: number;
}

const LIMITS: TextSearchLimits = { channelsOfCommonWord: [1_000, 5_000], maxTerms: 100, maxReadChannels: 200 };

/** The longest prefix for which the index need not visit each matching word (schema.ts). */
const MAX_INDEXED_BEGINNING = 8;
/** More words than users type. Each word costs one index lookup. */
const MAX_QUERY_WORDS = 10;

/** Finds rows in whose texts every word of the query starts some word, most subscribers first. */
export type TextSearch = (query: string, limit: number) => number[];

/** The tokens of one word: several in a script without spaces. The last one is a prefix. */
type Tokens = readonly string[];

/** @param db with the tables of schema.ts */
export function createTextSearch(db: DatabaseSync, limits: TextSearchLimits = LIMITS): TextSearch {
  const [few, many] = limits.channelsOfCommonWord;
  // In memory: the directory for temporary files may be read-only.
  db.exec('PRAGMA temp_store = MEMORY');
  db.exec("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'channel_text', 'instance')");
  const selectTerm = db.prepare('SELECT term FROM temp.terms WHERE term >= ? AND term < ? LIMIT 1');
  // As one text, because ten thousand separate values would take several times as long.
  const selectRows = db.prepare(`
    SELECT json_group_array(rowid) AS rows
    FROM (SELECT rowid FROM channel_text WHERE channel_text MATCH ? ORDER BY rowid LIMIT ? OFFSET ?)`);
  const selectTexts = db.prepare('SELECT custom_url, title, description FROM channels WHERE row = ?');

  function rowsOf(match: string, limit: number, offset = 0): number[] {
    return JSON.parse(String(selectRows.get(match, limit, offset)?.rows)) as number[];
  }

  /** The words with the prefix, with one seek each. A prefix query would read every occurrence of all of them. */
  function termsOf(beginning: string): string[] {
    const terms: string[] = [];
    let from = beginning;
    while (terms.length < limits.maxTerms) {
      const term = selectTerm.get(from, beginning + LAST_CHARACTER)?.term;
      if (typeof term !== 'string') break;
      terms.push(term);
      // The smallest text after the term.
      from = `${term}\u{1}`;
    }
    return terms;
  }

  function expressionOf(tokens: Tokens): string {
    const last = tokens.at(-1) ?? '';
    // Without a term, SQLite's own folding of the prefix may still find some.
    const terms = [...last].length > MAX_INDEXED_BEGINNING ? termsOf(last) : [];
    if (terms.length === 0) return `"${tokens.join(' ')}" *`;
    return `(${terms.map((term) => `"${[...tokens.slice(0, -1), term].join(' ')}"`).join(' OR ')})`;
  }

  /** Every token separately, including complete words. */
  function expressionsOfTokens(words: readonly Tokens[]): string[] {
    return words.flatMap((tokens) => [
      ...tokens.slice(0, -1).map((token) => `"${token}"`),
      expressionOf(tokens.slice(-1)),
    ]);
  }

  function isRare(expression: string, channels: number): boolean {
    return rowsOf(expression, 1, channels).length === 0;
  }

  /** The rows that are among the first of every expression. */
  function intersect(expressions: readonly string[], channels: number): number[] {
    const [first = '', ...others] = expressions;
    let rows = rowsOf(first, channels);
    for (const other of others) {
      if (rows.length === 0) break;
      const those = new Set(rowsOf(other, channels));
      rows = rows.filter((row) => those.has(row));
    }
    return rows;
  }

  /** Whether adjacent tokens are also adjacent in the channel's texts. */
  function hasPhrases(row: number, phrases: readonly Tokens[]): boolean {
    const texts = Object.values(selectTexts.get(row) ?? {}).map(
      (text) => ` ${wordsOf(indexedText(String(text ?? ''))).join(' ')}`,
    );
    return phrases.every((tokens) => texts.some((text) => text.includes(` ${tokens.join(' ')}`)));
  }

  function findCommon(
    words: readonly Tokens[],
    expressions: readonly string[],
    channels: number,
    limit: number,
  ): number[] {
    const rows = intersect(expressions, channels);
    const phrases = words.filter(({ length }) => length > 1);
    if (phrases.length === 0) return rows.slice(0, limit);
    const found: number[] = [];
    for (const row of rows.slice(0, limits.maxReadChannels)) {
      if (found.length === limit) break;
      if (hasPhrases(row, phrases)) found.push(row);
    }
    return found;
  }

  return (query, limit) => {
    const words = queryWords(query);
    if (words.length === 0) return [];
    const expressions = expressionsOfTokens(words);
    const all = () => rowsOf(words.map(expressionOf).join(' AND '), limit);
    // SQLite visits all channels of the rarest word, or of one word as many as it returns.
    if (expressions.length === 1 || expressions.some((expression) => isRare(expression, few))) return all();
    const found = findCommon(words, expressions, few, limit);
    if (found.length === limit) return found;
    if (expressions.some((expression) => isRare(expression, many))) return all();
    return findCommon(words, expressions, many, limit);
  };
}

/** The words of a query. */
export function queryWords(query: string): Tokens[] {
  return distinctPrefixes(wordsOf(foldText(query)))
    .slice(0, MAX_QUERY_WORDS)
    .map(tokensOf);
}

/** Drops words that another word implies: whatever starts with "cook" also starts with "co". */
function distinctPrefixes(words: readonly string[]): string[] {
  const distinct = [...new Set(words)];
  return distinct.filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)));
}
