import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { readImages, SEED } from '../../test/helpers/seeded-images.ts';
import { isBareImage } from './bare-image.ts';

const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
const draw = (channels: 3 | 4) =>
  sharp({ create: { width: 65, height: 33, channels, background: { r: 99, g: 99, b: 99, alpha: 0.5 }, noise } });
const opaque = () => draw(3);

describe.each([
  ['JPEG', 'jpeg', () => opaque().jpeg()],
  ['JPEG with ready-made tables', 'jpeg', () => opaque().jpeg({ optimiseCoding: false })],
  ['JPEG with whole colours', 'jpeg', () => opaque().jpeg({ chromaSubsampling: '4:4:4', quality: 100 })],
  ['PNG', 'png', () => opaque().png()],
  ['PNG with transparency', 'png', () => opaque().ensureAlpha(0.5).png()],
] as const)('%s', (_name, format, image) => {
  it('is bare when it comes from an encoder', async () => {
    expect(await isBareImage(format, await image().toBuffer())).toBe(true);
  });

  it('is not bare with anything after its end, even the end of another image', async () => {
    const bytes = await image().toBuffer();
    for (const more of [Buffer.from('\0'), SEED, bytes, bytes.subarray(-2), bytes.subarray(-12)]) {
      expect(await isBareImage(format, Buffer.concat([bytes, more]))).toBe(false);
    }
  });

  it('is not bare when it is truncated anywhere, and never throws', async () => {
    const bytes = await image().toBuffer();
    for (let length = 12; length < bytes.length; length += Math.ceil(bytes.length / 200)) {
      expect(await isBareImage(format, bytes.subarray(0, length))).toBe(false);
    }
  });

  it('never throws when any byte is changed', async () => {
    const bytes = await image().toBuffer();
    for (let at = 2; at < bytes.length; at += Math.ceil(bytes.length / 400)) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at);
      expect(await isBareImage(format, changed)).toBeTypeOf('boolean');
    }
  });
});

it.each([
  ['progressive JPEG', 'jpeg', () => opaque().jpeg({ progressive: true })],
  ['grey JPEG', 'jpeg', () => opaque().toColourspace('b-w').jpeg()],
  ['PNG with a palette', 'png', () => opaque().png({ palette: true })],
  ['PNG with 16 bits', 'png', () => opaque().toColourspace('rgb16').png()],
  ['interlaced PNG', 'png', () => opaque().png({ progressive: true })],
  ['WebP', 'webp', () => opaque().webp()],
  ['AVIF', 'avif', () => opaque().avif({ effort: 0 })],
  ['GIF', 'gif', () => opaque().gif()],
] as const)('%s is never bare', async (_name, format, image) => {
  expect(await isBareImage(format, await image().toBuffer())).toBe(false);
});

it('images without added bytes are bare, and images with added bytes in any place are not', async () => {
  const [bare, seeded] = [readImages('bare'), readImages('seeded')];
  expect([bare.length, seeded.length]).toEqual([5, 54]);
  for (const { name, format, bytes } of bare) expect([name, await isBareImage(format, bytes)]).toEqual([name, true]);
  for (const { name, format, bytes } of seeded) expect([name, await isBareImage(format, bytes)]).toEqual([name, false]);
});
