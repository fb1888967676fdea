import { expect, test } from 'vitest';
import { startForTest } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';

/** A client waits this long for an image, so that no request takes 12 s. */
const IMAGE_DEADLINE_MS = 11_500;
const URL = '/UCPennantSample00000001A/tv.webp?width=320';

test('an image that is not encoded in time is reported as overload, not as an upstream error, and is ready later', async () => {
  const encoder = createFakeEncoder();
  const [begin, turn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const service = await startForTest({
    encoder: {
      ...encoder,
      async encode(job, options) {
        begin.resolve();
        await turn.promise;
        return encoder.encode(job, options);
      },
    },
  });

  const asking = service.get(URL);
  await begin.promise;
  await service.clock.passTimer(IMAGE_DEADLINE_MS);
  const late = await asking;
  expect([late.status, late.json().code]).toEqual([503, 'overloaded']);
  expect(late.headers['retry-after']).toMatch(/^\d+$/);

  turn.resolve();
  const cacheStatus = async () => (await service.get(URL)).headers['cache-status'];
  await expect.poll(cacheStatus).toMatch(/^pennant; hit/);
});
