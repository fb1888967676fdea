import { describe, expect, it } from 'vitest';
import { AppError, type AppErrorOptions, type ErrorCode } from '../../domain/errors.ts';
import { problemResponse } from './problems.ts';

function headersOf(code: ErrorCode, options: AppErrorOptions = {}) {
  return problemResponse(new AppError(code, 'why', options), { base: 'http://a', id: 'id' }).headers;
}

describe('Retry-After', () => {
  it.each([
    [0, '1'],
    [1, '1'],
    [1_000, '1'],
    [1_001, '2'],
    [59_999.5, '60'],
  ])('of %d ms is %s s, which is never too short', (retryAfterMs, seconds) => {
    expect(headersOf('upstream_unavailable', { retryAfterMs })['retry-after']).toBe(seconds);
  });

  it('is the default of the problem if the failure has none', () => {
    expect(headersOf('upstream_unavailable')['retry-after']).toBe('30');
    expect(headersOf('upstream_invalid')['retry-after']).toBe('60');
  });

  it('is absent if waiting does not help', () => {
    for (const code of ['channel_not_found', 'invalid_parameter', 'internal'] as const) {
      expect(headersOf(code, { retryAfterMs: 1_000 })).not.toHaveProperty('retry-after');
    }
  });
});

describe('Cache-Control', () => {
  it('of an absent channel is the rest of its minute, or absent if that is unknown', () => {
    expect(headersOf('channel_not_found', { validForMs: 41_000 })['cache-control']).toBe('public, max-age=41');
    expect(headersOf('channel_not_found')['cache-control']).toBe('no-store');
    expect(headersOf('upstream_timeout', { validForMs: 41_000 })['cache-control']).toBe('no-store');
  });
});

it('too many open files are not reported as a bug', () => {
  const error = Object.assign(new Error('too many open files'), { code: 'EMFILE', syscall: 'open' });
  const { status, headers } = problemResponse(error, { base: 'http://a', id: 'id' });
  expect([status, headers['retry-after']]).toEqual([503, '2']);
});
