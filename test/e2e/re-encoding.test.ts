import { expect, test } from 'vitest';
import { useTestApp } from '../helpers/app.ts';
import { decodeImage } from '../helpers/image.ts';

const service = useTestApp();

test.each([
  '/UCPennantSample00000003A/avatar.avif?width=64',
  '/UCPennantSample00000003A/avatar.webp',
  '/UCPennantSample00000003A/avatar.jpeg?quality=50',
  '/UCPennantSample00000003A/mobile.png?width=300&height=100',
])('an image that is requested again is encoded again, smaller: %s', async (url) => {
  const first = await service.get(url);
  service.clock.advance(20_000);
  const etagLater = async () => (await service.getLater(url)).headers.etag;
  await expect.poll(etagLater, { interval: 100 }).not.toBe(first.headers.etag);
  const second = await service.get(url);
  expect(second.bytes.length).toBeLessThan(first.bytes.length);
  const [before, after] = [await decodeImage(first.bytes), await decodeImage(second.bytes)];
  expect([after.format, after.width, after.height]).toEqual([before.format, before.width, before.height]);
});
