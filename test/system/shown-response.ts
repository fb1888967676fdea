import { textPattern } from '../helpers/documents.ts';

/** The first difference, or `undefined`. `…` in a text or a header field stands for anything on its line. */
export function findDifference(language: string, shown: string, given: string): string | undefined {
  switch (language) {
    case 'json':
      return differenceOf(comparableJson(shown), comparableJson(given));
    case 'http':
      return findHeaderDifference(shown, given);
    default:
      return textPattern(shown).test(given.trim()) ? undefined : differenceOf(shown, given.trim());
  }
}

/** The order of fields counts, because the record defines one. These fields have new values in every response. */
const CHANGING_FIELDS: readonly string[] = ['requestId', 'cacheSeconds'];

function comparableJson(text: string): string {
  const comparable = (name: string, value: unknown) => (CHANGING_FIELDS.includes(name) ? typeof value : value);
  return JSON.stringify(JSON.parse(text), comparable, 1);
}

function differenceOf(shown: string, given: string): string | undefined {
  return shown === given ? undefined : `shown:\n${shown}\ngiven:\n${given}`;
}

const FORMS: Readonly<Record<string, RegExp>> = {
  date: /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  'last-modified': /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  'x-request-id': /^[\w-]+$/,
  'cache-status': /^pennant; (?:hit|fwd)/,
};

function findHeaderDifference(shown: string, given: string): string | undefined {
  const [shownStatus, ...shownFields] = shown.trim().split('\n');
  const [givenStatus, ...givenFields] = given.trim().split('\r\n');
  if (shownStatus !== givenStatus) return differenceOf(shown, given);
  const values = new Map(givenFields.map(readField));
  const wrong = shownFields.find((line) => {
    const [name, value] = readField(line);
    return !isSameField(name, value, values.get(name));
  });
  return wrong === undefined ? undefined : `shown: ${wrong}\ngiven:\n${given}`;
}

function readField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

const MAX_AGE = /^public, max-age=(\d+)$/;
/** Time limit for the examples of one document. */
const SECONDS_PASSED = 120;

function isSameField(name: string, shown: string, given = ''): boolean {
  const form = FORMS[name];
  if (form !== undefined) return form.test(given);
  const [shownAge, givenAge] = [MAX_AGE.exec(shown)?.[1], MAX_AGE.exec(given)?.[1]].map(Number);
  if (name === 'cache-control' && Number.isInteger(shownAge) && Number.isInteger(givenAge)) {
    const passed = Number(shownAge) - Number(givenAge);
    return passed >= 0 && passed <= SECONDS_PASSED;
  }
  return textPattern(shown).test(given);
}
