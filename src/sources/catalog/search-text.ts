/**
 * Makes texts comparable: compatibility forms, letter case, diacritics and runs of white space do not count.
 *
 * Only U+0300 to U+036F are dropped: in other scripts a combining mark tells words apart (Indic vowel signs, the
 * voiced Japanese kana).
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
/** More words than people type; each one costs a walk through an index. */
const MAX_QUERY_WORDS = 10;

/** A text as the full-text index takes it: folded, and unspaced scripts one character a word, so that parts are found. */
export function indexedText(text: string): string {
  return foldText(text).replace(UNSPACED_CHARACTER, ' $& ');
}

/**
 * The FTS5 query that finds every record with words that begin like the query's, all of them, in any field;
 * `undefined` when the query has no word. Words are quoted, so no character of the query is FTS5 syntax.
 */
export function matchExpression(query: string): string | undefined {
  const words = distinctPrefixes(foldText(query).match(WORD) ?? []).slice(0, MAX_QUERY_WORDS);
  if (words.length === 0) return undefined;
  return words.map((word) => `"${word.replace(UNSPACED_CHARACTER, ' $& ')}" *`).join(' AND ');
}

/** Leaves out words that are implied: whatever begins with "cook" begins with "co". */
function distinctPrefixes(words: readonly string[]): string[] {
  const distinct = [...new Set(words)];
  return distinct.filter((word) => !distinct.some((other) => other !== word && other.startsWith(word)));
}
