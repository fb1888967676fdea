import { expect, it } from 'vitest';
import { readRetryAfterMs } from './http-client.ts';

const HOUR_MS = 3_600_000;

it.each([
  ['120', 120_000],
  ['3601', HOUR_MS],
  ['9'.repeat(400), HOUR_MS],
])('a Retry-After of %s is converted to milliseconds', (value, ms) => {
  expect(readRetryAfterMs({ 'retry-after': value })).toBe(ms);
});

it.each(['', '0', '-1', '1.5', 'soon', '120, 90', 'Sun, 22 Nov 2026 10:02:00 GMT'])(
  'a Retry-After of %j is ignored',
  (value) => {
    expect(readRetryAfterMs({ 'retry-after': value })).toBeUndefined();
  },
);
