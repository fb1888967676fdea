import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { jpegOfScans, webpOfFrames } from '../../test/helpers/many-parts.ts';
import { MAX_ORIGINAL_PIXELS } from './encoder/job.ts';
import { findExceededParts, readStatedPixels } from './header.ts';

const SIZE = { width: 300, height: 200 };
const drawn = sharp({ create: { ...SIZE, channels: 4, background: { r: 9, g: 99, b: 199, alpha: 0.5 } } });

describe('the pixels that a header states', () => {
  it.each([
    ['JPEG', () => drawn.clone().jpeg()],
    ['progressive JPEG', () => drawn.clone().jpeg({ progressive: true })],
    ['JPEG with a profile and EXIF', () => drawn.clone().withIccProfile('p3').withMetadata({ orientation: 6 }).jpeg()],
    ['PNG', () => drawn.clone().png()],
    ['lossy WebP', () => drawn.clone().removeAlpha().webp()],
    ['lossless WebP', () => drawn.clone().removeAlpha().webp({ lossless: true })],
    ['WebP with transparency', () => drawn.clone().webp()],
    ['AVIF', () => drawn.clone().avif({ effort: 0 })],
    ['GIF', () => drawn.clone().gif()],
  ])('are those of a %s', async (_, draw) => {
    expect(readStatedPixels(await draw().toBuffer())).toBe(SIZE.width * SIZE.height);
  });

  it('are those of the largest image if the header is cut or the bytes are no image', async () => {
    const jpeg = await drawn.clone().jpeg().toBuffer();
    for (const length of [0, 11, 12, 20, 100])
      expect(readStatedPixels(jpeg.subarray(0, length))).toBe(MAX_ORIGINAL_PIXELS);
    const png = await drawn.clone().png().toBuffer();
    expect(readStatedPixels(png.subarray(0, 22))).toBe(MAX_ORIGINAL_PIXELS);
    expect(readStatedPixels(Buffer.from('<!doctype html><title>Sorry</title>'))).toBe(MAX_ORIGINAL_PIXELS);
  });

  it('are never more, whatever the bytes', () => {
    const signatures = ['ffd8ff', '89504e470d0a1a0a', '47494638 3961', '52494646 00000000 57454250 56503820'];
    const signature = fc.constantFrom(...signatures.map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex')));
    fc.assert(
      fc.property(signature, fc.uint8Array({ maxLength: 200 }), (start, rest) => {
        expect(readStatedPixels(Buffer.concat([start, rest]))).toBeLessThanOrEqual(MAX_ORIGINAL_PIXELS);
      }),
    );
  });
});

describe('the parts of an original', () => {
  it('are 100 scans of a JPEG at most', () => {
    expect(findExceededParts(jpegOfScans(SIZE, 100))).toBeUndefined();
    expect(findExceededParts(jpegOfScans(SIZE, 101))).toEqual({ what: 'scans', most: 100 });
  });

  it('are 10,000 frames of a WebP at most', async () => {
    expect(findExceededParts(await webpOfFrames(10_000))).toBeUndefined();
    expect(findExceededParts(await webpOfFrames(10_001))).toEqual({ what: 'frames', most: 10_000 });
  });

  it('do not include those of a preview inside of it', async () => {
    const jpeg = await drawn.clone().jpeg().toBuffer();
    const preview = jpegOfScans({ width: 16, height: 9 }, 200);
    const segment = Buffer.from([0xff, 0xe1, (preview.length + 2) >> 8, (preview.length + 2) & 0xff]);
    expect(findExceededParts(Buffer.concat([jpeg.subarray(0, 2), segment, preview, jpeg.subarray(2)]))).toBeUndefined();
  });

  it('are counted in ordinary images', async () => {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const photo = sharp({ create: { ...SIZE, channels: 3, background: 'grey', noise } });
    for (const options of [{}, { progressive: true }, { mozjpeg: true }]) {
      expect(findExceededParts(await photo.clone().jpeg(options).toBuffer())).toBeUndefined();
    }
    expect(findExceededParts(await photo.clone().webp().toBuffer())).toBeUndefined();
  });

  it('are counted in bytes that never end a part', () => {
    const start = Buffer.from([0xff, 0xd8, 0xff]);
    for (const fill of [0xff, 0xda, 0x00]) {
      expect(() => findExceededParts(Buffer.concat([start, Buffer.alloc(100_000, fill)]))).not.toThrow();
    }
  });
});
