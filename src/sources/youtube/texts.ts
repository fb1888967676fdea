import { isJsonObject, valuesAt } from './json.ts';

/** A text in any of upstream's wrappings: a string, `{simpleText}`, `{content}` or `{runs: [{text}]}`. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return undefined;
  if (typeof value.simpleText === 'string') return value.simpleText;
  if (typeof value.content === 'string') return value.content;
  const runs = valuesAt(value, 'runs.*.text').filter((run) => typeof run === 'string');
  return runs.length > 0 ? runs.join('') : undefined;
}

/** The text, where it is one and no longer than that. */
export function textWithin(value: unknown, maxCharacters: number): string | undefined {
  return typeof value === 'string' && value.length <= maxCharacters ? value : undefined;
}

export type CountNoun = 'subscriber' | 'view' | 'video';

/** "4.52M subscribers", "5.04m subscribers" (en-GB), "4.52 million subscribers" (labels), "No videos", "1 view". */
const COUNT = /^(no|[\d.,]+)\s*(k|m|b|thousand|million|billion)?\s+(subscriber|view|video)s?$/i;
const GROUPED_INTEGER = /^(?:\d+|\d{1,3}(?:[.,]\d{3})+)$/;
const ENGLISH_DECIMAL = /^(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))?$/;
const ZEROS_BY_INITIAL: Readonly<Record<string, number>> = { k: 3, t: 3, m: 6, b: 9 };

/**
 * Reads a count as a decimal integer; `undefined` where it cannot be read for certain.
 *
 * The English noun must be there: in other languages "B" is a thousand, "Tr" a million and a dot groups digits.
 */
export function parseCount(text: string, noun: CountNoun): string | undefined {
  const match = COUNT.exec(text.trim());
  if (match === null || match[3]?.toLowerCase() !== noun) return undefined;
  const [, number = '', suffix] = match;
  if (number.toLowerCase() === 'no') return suffix === undefined ? '0' : undefined;
  if (suffix !== undefined) return scaled(number, ZEROS_BY_INITIAL[suffix.charAt(0).toLowerCase()] ?? 0);
  return GROUPED_INTEGER.test(number) ? withoutLeadingZeros(number.replace(/[.,]/g, '')) : undefined;
}

/** Shifts the decimal point in the text itself: 1.13 × 1,000,000 is 1,129,999.99… in floating point. */
function scaled(number: string, zeros: number): string | undefined {
  const match = ENGLISH_DECIMAL.exec(number);
  if (match === null) return undefined;
  const [, whole = '', fraction = ''] = match;
  if (fraction.length > zeros) return undefined;
  return withoutLeadingZeros(whole.replaceAll(',', '') + fraction.padEnd(zeros, '0'));
}

function withoutLeadingZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH_FIRST = /^Joined\s+([A-Z][a-z]{2})[a-z]*\.?\s+(\d{1,2}),?\s+(\d{4})$/i;
const DAY_FIRST = /^Joined\s+(\d{1,2})\s+([A-Z][a-z]{2})[a-z]*\.?,?\s+(\d{4})$/i;

/**
 * Reads "Joined Feb 1, 2015" and "Joined 1 Feb 2015" (the order follows the country asked for, `gl`; en-GB writes
 * "Sept") as midnight UTC. The page does not say in which time zone its day is.
 */
export function parseJoinedDate(text: string): string | undefined {
  const monthFirst = MONTH_FIRST.exec(text.trim());
  if (monthFirst !== null) return midnight(monthFirst[3], monthFirst[1], monthFirst[2]);
  const dayFirst = DAY_FIRST.exec(text.trim());
  if (dayFirst !== null) return midnight(dayFirst[3], dayFirst[2], dayFirst[1]);
  return undefined;
}

function midnight(year = '', month = '', day = ''): string | undefined {
  const monthIndex = MONTHS.indexOf(month.toLowerCase());
  if (monthIndex < 0) return undefined;
  const date = new Date(Date.UTC(Number(year), monthIndex, Number(day)));
  return date.getUTCDate() === Number(day) ? toIsoSeconds(date) : undefined;
}

/** `YYYY-MM-DDThh:mm:ssZ`. */
export function toIsoSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
