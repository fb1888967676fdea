const SHORT_WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const WEEKDAYS = [...SHORT_WEEKDAYS, 'Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The preferred form, and the two obsolete ones that recipients must accept. */
const FORMS = [
  /^(?<weekday>[A-Z][a-z]{2}), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) GMT$/,
  /^(?<weekday>[A-Z][a-z]{5,8}), (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<shortYear>\d\d) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) GMT$/,
  /^(?<weekday>[A-Z][a-z]{2}) (?<month>[A-Z][a-z]{2}) (?<day>\d\d| \d) (?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d) (?<year>\d{4})$/,
];

/** The longest weekday's name makes the longest date; the check keeps other texts cheap. */
const MAX_CHARACTERS = 'Wednesday, 06-Nov-94 08:49:37 GMT'.length;

/** Reads an HTTP-date (RFC 9110 section 5.6.7) in milliseconds since 1970; `undefined` for any other text. */
export function parseHttpDate(text: string, nowMs = Date.now()): number | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const fields = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (fields === undefined || !WEEKDAYS.includes(fields.weekday ?? '')) return undefined;
  const { shortYear, year = fullYear(Number(shortYear), nowMs) } = fields;
  const month = MONTHS.indexOf(fields.month ?? '');
  if (month === -1) return undefined;
  const day = Number(fields.day);
  const hour = Number(fields.hour);
  const minute = Number(fields.minute);
  const second = Number(fields.second);
  // 60 is a leap second.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), month, day);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second);
}

/** A year of two digits is never more than 50 years ahead. */
function fullYear(shortYear: number, nowMs: number): number {
  const thisYear = new Date(nowMs).getUTCFullYear();
  const inThisCentury = thisYear - (thisYear % 100) + shortYear;
  return inThisCentury > thisYear + 50 ? inThisCentury - 100 : inThisCentury;
}
