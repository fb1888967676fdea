import { expect, it } from 'vitest';
import { readRetryAfterMs } from './http-client.ts';

const DATE = 'Sun, 22 Nov 2026 10:00:00 GMT';
const HOUR_MS = 3_600_000;

it.each([
  ['120', 120_000],
  ['3601', HOUR_MS],
  ['9'.repeat(400), HOUR_MS],
  ['Sun, 22 Nov 2026 10:02:00 GMT', 120_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', HOUR_MS],
])('a Retry-After of %s is converted to milliseconds', (value, ms) => {
  expect(readRetryAfterMs({ 'retry-after': value, date: DATE })).toBe(ms);
});

it.each([
  '',
  '0',
  '-1',
  '1.5',
  'soon',
  '120, 90',
  DATE,
  'Sun, 22 Nov 2026 09:59:59 GMT',
  'Sun, 99 Xxx 2026 10:02:00 GMT',
  '2026-11-22T10:02:00Z',
])('a Retry-After of %j is ignored', (value) => {
  expect(readRetryAfterMs({ 'retry-after': value, date: DATE })).toBeUndefined();
});
