/** Characters that control a terminal or change a line: controls, line separators, direction marks, lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const MAX_CHARACTERS = 300;

/**
 * Makes foreign text (from a file, an argument, a response, another program's message) safe for one line of a terminal or
 * a log: unprintable characters become `\u{1b}`, and a long text is truncated with "…".
 */
export function printable(text: string, maxCharacters = MAX_CHARACTERS): string {
  const beginning = text.slice(0, maxCharacters);
  const escaped = beginning.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  const isWhole = beginning === text && escaped.length <= maxCharacters;
  return isWhole ? escaped : `${escaped.slice(0, maxCharacters).toWellFormed()}…`;
}

const MAX_QUOTED_CHARACTERS = 60;

/** A short foreign text in quotation marks, for a message. */
export function quoted(text: string): string {
  return `"${printable(text, MAX_QUOTED_CHARACTERS)}"`;
}
