/** What an upstream may ask for at most: whoever has been refused for longer may still ask once an hour. */
const MAX_MS = 3_600_000;

/** One of the two forms of RFC 9110, section 10.2.3; the other is a number of seconds. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long an upstream asks us to wait, in milliseconds, at most an hour. A date counts from the response's own `Date`, so
 * that no clock needs to be right. `undefined` where the response does not say, or says something else.
 */
export function readRetryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'] ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateOf(text) - dateOf(headers.date ?? '');
  return ms > 0 ? Math.min(ms, MAX_MS) : undefined;
}

function dateOf(text: string): number {
  return HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
}
