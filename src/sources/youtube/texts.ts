import { isJsonObject } from '../../lib/json.ts';
import { valuesAt } from '../json.ts';

/** A text in any of YouTube’s forms: a string, `{simpleText}`, `{content}` or `{runs: [{text}]}`. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return undefined;
  if (typeof value.simpleText === 'string') return value.simpleText;
  if (typeof value.content === 'string') return value.content;
  const runs = valuesAt(value, 'runs.*.text').filter((run) => typeof run === 'string');
  return runs.length > 0 ? runs.join('') : undefined;
}

/** The parts of "@handle • 1.2K subscribers • 34 videos", which may be wrapped in marks for the direction of text (2026-03). */
export function partsOf(text: string): string[] {
  return text
    .replace(/\p{Bidi_Control}/gu, '')
    .split('•')
    .map((part) => part.trim());
}

export type CountNoun = 'subscriber' | 'view' | 'video';

const DECIMAL = /^(\d{1,16}|\d{1,3}(?:,\d{3}){1,5})(?:\.(\d{1,9}))?$/;
/** The number of zeros that each abbreviation means. */
const ABBREVIATIONS: ReadonlyMap<string, number> = new Map(Object.entries({ k: 3, m: 6, b: 9 }));

/**
 * Reads "4.52M subscribers", "5.04m subscribers" (en-GB), "7,634 videos", "No videos" and "1 view" as a decimal integer;
 * `undefined` for every text that is not plain English.
 *
 * In other languages a dot groups digits, a comma is the decimal point, "B" means thousand ("12 B video" is Turkish) and
 * "Tr" million. So the abbreviation must directly follow the number, and only "1" may have a singular noun.
 */
export function parseCount(text: string, noun: CountNoun): string | undefined {
  const [number = '', word, ...rest] = wordsOf(text);
  const isCounted = word === `${noun}s` || (word === noun && number === '1');
  if (!isCounted || rest.length > 0) return undefined;
  if (number === 'no') return '0';
  const zeros = ABBREVIATIONS.get(number.at(-1) ?? '');
  return zeros === undefined ? shifted(number, 0) : shifted(number.slice(0, -1), zeros);
}

function wordsOf(text: string): string[] {
  return text.trim().toLowerCase().split(/\s+/);
}

/** Shifts the decimal point in the text, because 1.13 × 1,000,000 is 1,129,999.99… in floating point. */
function shifted(number: string, zeros: number): string | undefined {
  const [, whole = '', fraction = ''] = DECIMAL.exec(number) ?? [];
  if (whole === '' || fraction.length > zeros) return undefined;
  const digits = whole.replaceAll(',', '') + fraction.padEnd(zeros, '0');
  return digits.replace(/^0+(?=\d)/, '');
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** "Sep", "Sept" or "September", with a full stop in older responses. */
const MONTH = /^([a-z]{3})[a-z]{0,6}\.?$/;
const DAY = /^\d{1,2}$/;
const YEAR = /^\d{4}$/;

/**
 * Reads "Joined Feb 1, 2015", "Joined on Feb 1, 2015" and "Joined 1 Feb 2015" as midnight UTC; the time zone of the day is
 * unknown. The order depends on the requested country (`gl`), and en-GB writes "Sept".
 */
export function parseJoinedDate(text: string): string | undefined {
  const words = wordsOf(text.replace(',', '')).filter((word) => word !== 'on');
  const [joined, first = '', second = '', year = '', ...rest] = words;
  if (joined !== 'joined' || rest.length > 0 || !YEAR.test(year)) return undefined;
  const [month, day] = DAY.test(first) ? [second, first] : [first, second];
  const monthIndex = MONTHS.indexOf(MONTH.exec(month)?.[1] ?? '');
  if (monthIndex < 0 || !DAY.test(day)) return undefined;
  const date = new Date(Date.UTC(Number(year), monthIndex, Number(day)));
  return date.getUTCDate() === Number(day) ? toIsoSeconds(date) : undefined;
}

/** `YYYY-MM-DDThh:mm:ssZ`. */
export function toIsoSeconds(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
