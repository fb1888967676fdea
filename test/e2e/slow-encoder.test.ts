import { expect, onTestFinished, test } from 'vitest';
import { createEncoder } from '../../src/images/encoder/encoder.ts';
import { startTestApp } from '../helpers/app.ts';
import { decodeImage } from '../helpers/image.ts';

/** A client waits this long for an image, so that no request takes 12 s. */
const IMAGE_DEADLINE_MS = 11_000;
const URL = '/UCPennantSample00000001A/tv.webp?width=320';

test('an image that is not encoded in time is reported as overload, not as an upstream error, and is ready later', async () => {
  const encoder = createEncoder({ processes: 1 });
  const turn = Promise.withResolvers<void>();
  const service = await startTestApp({
    encoder: { ...encoder, encode: (job, options) => turn.promise.then(() => encoder.encode(job, options)) },
  });
  onTestFinished(() => service.close());

  const asking = service.get(URL);
  await service.clock.passTimer(IMAGE_DEADLINE_MS);
  const late = await asking;
  expect([late.status, late.json().code]).toEqual([503, 'overloaded']);
  expect(late.headers['retry-after']).toMatch(/^\d+$/);

  turn.resolve();
  const cacheStatus = async () => (await service.get(URL)).headers['cache-status'];
  await expect.poll(cacheStatus).toMatch(/^pennant; hit/);
  expect(await decodeImage((await service.get(URL)).bytes)).toMatchObject({ format: 'webp', width: 320 });
});
