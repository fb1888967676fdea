import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { AppError } from '../domain/errors.ts';
import { createFailedKeys } from './failed-keys.ts';
import { asWork, nextChange } from './work.ts';

const FAILURE = new AppError('upstream_invalid', 'The image cannot be read.', { scope: 'key' });
const fail = () => Promise.reject(FAILURE);

test('a failure is remembered until its channel is purged or imported', async () => {
  const failed = createFailedKeys({ clock: createManualClock() });
  await expect(failed.run('key', fail)).rejects.toMatchObject({ code: 'upstream_invalid', retryAfterMs: 15_000 });
  await expect(failed.run('key', async () => 'mended')).rejects.toMatchObject({ retryAfterMs: 15_000 });
  nextChange();
  expect(await failed.run('key', async () => 'mended')).toBe('mended');
});

test('a failure of work that began before a purge is not remembered', async () => {
  const failed = createFailedKeys({ clock: createManualClock() });
  await asWork(async () => {
    nextChange();
    await expect(failed.run('key', fail)).rejects.toMatchObject({ retryAfterMs: 15_000 });
  });
  expect(await failed.run('key', async () => 'mended')).toBe('mended');
});
