/** Sorts after every other character in SQLite's comparison of UTF-8 bytes. */
export const LAST_CHARACTER = '\u{10ffff}';

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
const BETWEEN_WORDS = '[^\\p{L}\\p{M}\\p{N}]';
/** Scripts written without spaces between words. */
const UNSPACED = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]';
const UNSPACED_CHARACTER = new RegExp(UNSPACED, 'gu');
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, 'u');

/** A text for the full-text index: folded, with each character of an unspaced script as its own word. */
export function indexedText(text: string): string {
  return foldText(text).replace(UNSPACED_CHARACTER, ' $& ');
}

/** The words of a folded text; none in punctuation and emoji. Words have no character of FTS5's syntax. */
export function wordsOf(foldedText: string): string[] {
  return foldedText.match(WORD) ?? [];
}

/** The words of the full-text index that a folded word consists of. */
export function tokensOf(word: string): string[] {
  return word.replace(UNSPACED_CHARACTER, ' $& ').trim().split(/ +/);
}

/**
 * Matches a folded text if the index has these tokens of one word (`tokensOf`) one after the other in it. The last one may
 * be the beginning of a longer token.
 */
export function phrasePattern(tokens: readonly string[]): RegExp {
  const start = STARTS_UNSPACED.test(tokens[0] ?? '') ? '' : `(?:^|${BETWEEN_WORDS}|${UNSPACED})`;
  return new RegExp(`${start}${tokens.join(`${BETWEEN_WORDS}*`)}`, 'u');
}
