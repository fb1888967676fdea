import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { isBarePicture } from './bare-picture.ts';

const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
const draw = (channels: 3 | 4 = 3): Sharp =>
  sharp({ create: { width: 65, height: 33, channels: 3, background: 'grey', noise } }).ensureAlpha(
    channels === 4 ? 0.5 : 1,
  );
const opaque = () => draw().removeAlpha();

const BARE: readonly (readonly [name: string, format: 'png' | 'jpeg' | 'webp' | 'avif', picture: () => Sharp])[] = [
  ['PNG', 'png', () => opaque().png()],
  ['PNG with a palette', 'png', () => opaque().png({ palette: true })],
  ['JPEG', 'jpeg', () => opaque().jpeg()],
  ['progressive JPEG', 'jpeg', () => opaque().jpeg({ progressive: true })],
  ['WebP', 'webp', () => opaque().webp()],
  ['lossless WebP', 'webp', () => opaque().webp({ lossless: true })],
  ['WebP with transparency', 'webp', () => draw(4).webp()],
  ['AVIF', 'avif', () => opaque().avif({ effort: 0 })],
];

describe.each(BARE)('%s', (_name, format, picture) => {
  it('is bare as encoders write it', async () => {
    expect(isBarePicture(format, await picture().toBuffer())).toBe(true);
  });

  it('is not bare with anything behind its end, another picture’s end included', async () => {
    const bytes = await picture().toBuffer();
    for (const more of [Buffer.from('\0'), Buffer.from('<script>'), bytes, bytes.subarray(-12)]) {
      expect(isBarePicture(format, Buffer.concat([bytes, more]))).toBe(false);
    }
  });

  it('is not bare when it is cut anywhere, and cutting it never throws', async () => {
    const bytes = await picture().toBuffer();
    for (let length = 12; length < bytes.length; length += Math.ceil(bytes.length / 200)) {
      expect(isBarePicture(format, bytes.subarray(0, length))).toBe(false);
    }
  });
});

describe('parts that decoders skip', () => {
  it('a private chunk in a PNG', async () => {
    const bytes = await opaque().png().toBuffer();
    const chunk = Buffer.from('\0\0\0\x02prVtab\0\0\0\0', 'latin1');
    expect(isBarePicture('png', Buffer.concat([bytes.subarray(0, 33), chunk, bytes.subarray(33)]))).toBe(false);
  });

  it.each([0xe1, 0xe2, 0xed, 0xfe])('a JPEG segment of kind %i', async (kind) => {
    const bytes = await opaque().jpeg().toBuffer();
    const segment = Buffer.from([0xff, kind, 0, 4, 1, 2]);
    expect(isBarePicture('jpeg', Buffer.concat([bytes.subarray(0, 2), segment, bytes.subarray(2)]))).toBe(false);
  });

  it('metadata in WebP and AVIF, and a box that says it is free', async () => {
    const exif = { IFD0: { Copyright: 'somebody' } };
    expect(isBarePicture('webp', await opaque().withExif(exif).webp().toBuffer())).toBe(false);
    const box = Buffer.from('\0\0\0\x0cfreehere', 'latin1');
    const avif = await opaque().avif({ effort: 0 }).toBuffer();
    expect(isBarePicture('avif', Buffer.concat([avif, box]))).toBe(false);
  });
});
