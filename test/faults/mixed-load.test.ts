import sharp from 'sharp';
import { expect, test } from 'vitest';
import { findPictureFaults, freshPictureUrl } from './mixed-load.ts';

const IMAGE = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
  .png()
  .toBuffer();

/** The faults that are reported of a service that sends this response to every request. */
function faultsOf(status: number, bytes: Buffer): Promise<string[]> {
  const client = { send: async () => ({ status, headers: {}, bytes }), close: () => undefined };
  return findPictureFaults(client as never, [freshPictureUrl()]);
}

test.each([
  ['a lost image', 404, Buffer.alloc(0)],
  ['an error', 503, Buffer.alloc(0)],
  ['an empty image', 200, Buffer.alloc(0)],
  ['a truncated image', 200, IMAGE.subarray(0, IMAGE.length - 20)],
])('%s is a fault', async (_what, status, bytes) => {
  expect(await faultsOf(status, bytes)).toHaveLength(1);
});

test('a whole image is no fault', async () => {
  expect(await faultsOf(200, IMAGE)).toEqual([]);
});

test('no image is requested that the samples do not have', () => {
  const urls = Array.from({ length: 500 }, () => freshPictureUrl());
  expect(urls.filter((url) => url.includes('UCPennantSample00000002A'))).not.toEqual([]);
  expect(urls.filter((url) => /^\/UCPennantSample00000002A\/(?!avatar)/.test(url))).toEqual([]);
});
