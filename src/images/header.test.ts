import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { jpegOfScans, webpOfFrames } from '../../test/helpers/many-parts.ts';
import { findExceededParts } from './header.ts';

const SIZE = { width: 300, height: 200 };
const drawn = sharp({ create: { ...SIZE, channels: 4, background: { r: 9, g: 99, b: 199, alpha: 0.5 } } });

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
