import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { createFailedKeys } from './failed-keys.ts';

const FAILURE = new AppError('upstream_invalid', 'The image cannot be read.', { scope: 'key' });
const fail = () => Promise.reject(FAILURE);

test('a failure is remembered until a purge', async () => {
  const failed = createFailedKeys({ clock: createManualClock() });
  await expect(failed.run('key', fail)).rejects.toMatchObject({ code: 'upstream_invalid', retryAfterMs: 15_000 });
  await expect(failed.run('key', async () => 'mended')).rejects.toMatchObject({ retryAfterMs: 15_000 });
  failed.forget();
  expect(await failed.run('key', async () => 'mended')).toBe('mended');
});

test.each([
  ['for 15 s', undefined, 15_000],
  ['for its own Retry-After if that is shorter', 4_000, 4_000],
  ['for 15 s if its own Retry-After is longer', 60_000, 15_000],
])('a failure is remembered %s', async (_what, retryAfterMs, rememberedMs) => {
  const clock = createManualClock();
  const failed = createFailedKeys({ clock });
  const failure = new AppError('upstream_invalid', 'The image cannot be read.', {
    scope: 'key',
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  await expect(failed.run('key', () => Promise.reject(failure))).rejects.toMatchObject({ code: 'upstream_invalid' });
  clock.advance(rememberedMs - 1);
  await expect(failed.run('key', async () => 'mended')).rejects.toMatchObject({ retryAfterMs: 1 });
  clock.advance(1);
  expect(await failed.run('key', async () => 'mended')).toBe('mended');
});

test('a failure is remembered as long as it says that it is valid', async () => {
  const clock = createManualClock();
  const failed = createFailedKeys({ clock });
  const failure = new AppError('overloaded', 'It takes too long.', { scope: 'key', validForMs: 3_600_000 });
  await expect(failed.run('key', () => Promise.reject(failure))).rejects.toMatchObject({ code: 'overloaded' });
  clock.advance(3_599_999);
  await expect(failed.run('key', async () => 'mended')).rejects.toMatchObject({ retryAfterMs: 1 });
  clock.advance(1);
  expect(await failed.run('key', async () => 'mended')).toBe('mended');
});
