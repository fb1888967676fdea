import { expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';

const CHANNEL = 'UCPennantSample00000001A';

/** Reports every original as very wide, and returns each job's size, because encoding that many pixels takes seconds. */
const encoder = createFakeEncoder({
  info: { width: 17_000, height: 2_809 },
  encode: async ({ output }) => Buffer.from(`${output.width}×${output.height}`),
});

test('a crop with a side of more than 4,096 pixels is scaled down to fit', async () => {
  const service = await startTestApp({ encoder });
  onTestFinished(() => service.close());
  const sizeOf = async (path: string) => (await service.get(path)).text;
  for (const extension of ['webp', 'avif', 'jpg', 'png']) {
    expect(await sizeOf(`/${CHANNEL}.${extension}`)).toBe('4096×677');
  }
  expect(await sizeOf(`/${CHANNEL}/tablet.webp`)).toBe('4096×934');
  expect(await sizeOf(`/${CHANNEL}/avatar.webp`)).toBe('2809×2809');
  expect(await sizeOf(`/${CHANNEL}/tv.webp?width=4096&height=4096`)).toBe('2809×2809');

  // A size that resolves to the same output is the same image.
  const { etag } = (await service.get(`/${CHANNEL}.webp`)).headers;
  const taller = await service.get(`/${CHANNEL}.webp?height=2800`, { 'if-none-match': String(etag) });
  expect([taller.status, taller.headers.etag]).toEqual([304, etag]);
});
