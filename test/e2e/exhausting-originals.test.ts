import { expect, test } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { startForTest } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { numberedChannelId, numberedSource } from '../helpers/fake-source.ts';

const HOUR_MS = 3_600_000;

test('an original that used up an encoder’s CPU time is not decoded again for an hour, whatever is asked of it', async () => {
  let inspections = 0;
  const encoder = createFakeEncoder({
    inspect: async () => {
      inspections += 1;
      throw new AppError('overloaded', 'Too slow.', { scope: 'key', retryAfterMs: HOUR_MS, validForMs: HOUR_MS });
    },
  });
  const downloader = { download: async () => Buffer.from('original') };
  const service = await startForTest({ encoder, sources: [numberedSource()], downloader });
  const ask = (path: string) => service.get(`/${numberedChannelId(1)}/${path}`);

  const first = await ask('tv.avif');
  expect([first.status, first.json().code, first.headers['retry-after']]).toEqual([503, 'overloaded', '3600']);
  service.clock.advance(HOUR_MS / 2);
  const later = await ask('mobile.png?width=100');
  expect([later.status, later.headers['retry-after']]).toEqual([503, '1800']);
  expect(inspections).toBe(1);
  service.clock.advance(HOUR_MS / 2);
  await ask('tv.avif');
  expect(inspections).toBe(2);
});
