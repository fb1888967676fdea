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
/** Scripts written without spaces between words. */
const UNSPACED_CHARACTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
/** Matches where a token of the index may begin. */
const TOKEN_START =
  /(?<![\p{L}\p{M}\p{N}])|(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])|(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/uy;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]*/uy;

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
 * True if the index has these tokens of one word (`tokensOf`) one after the other in the folded text. The last one may be
 * the beginning of a longer token.
 */
export function hasPhrase(foldedText: string, tokens: readonly string[]): boolean {
  const [first = ''] = tokens;
  for (let at = foldedText.indexOf(first); at !== -1; at = foldedText.indexOf(first, at + 1)) {
    TOKEN_START.lastIndex = at;
    if (TOKEN_START.test(foldedText) && hasPhraseAt(foldedText, at, tokens)) return true;
  }
  return false;
}

function hasPhraseAt(text: string, start: number, tokens: readonly string[]): boolean {
  let at = start;
  return tokens.every((token) => {
    BETWEEN_WORDS.lastIndex = at;
    BETWEEN_WORDS.test(text);
    const isThere = text.startsWith(token, BETWEEN_WORDS.lastIndex);
    at = BETWEEN_WORDS.lastIndex + token.length;
    return isThere;
  });
}
