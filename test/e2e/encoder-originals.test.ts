import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '../../src/domain/formats.ts';
import type { EncodeJob } from '../../src/images/encoder/job.ts';
import { NEVER_ABORTED } from '../../src/lib/deadlines.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { pngOf } from '../helpers/png.ts';
import { differenceFromCard, drawTestCard } from '../helpers/test-card.ts';

const RED = { r: 192, g: 48, b: 32 };
const SIZE = { width: 64, height: 48 };
/** A lossy format, or a colour profile, may move a value this much. */
const COLOUR_TOLERANCE = 12;

const encoder = sharedEncoder();

function encodeWhole(bytes: Buffer, format: Format, size = SIZE, more: Partial<EncodeJob> = {}): Promise<Buffer> {
  const crop = { left: 0, top: 0, ...size };
  const job = {
    readOriginal: async () => bytes,
    originalSize: size,
    crop,
    output: size,
    format,
    quality: undefined,
    ...more,
  };
  return encoder.encode(job, NEVER_ABORTED);
}

async function firstPixel(image: Buffer): Promise<number[]> {
  const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true });
  return [...data.subarray(0, info.channels)];
}

function expectColour(actual: number[], expected: number[]): void {
  expect(actual).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) {
    expect(Math.abs((actual[index] ?? 0) - value), `channel ${index} of ${actual}`).toBeLessThan(COLOUR_TOLERANCE);
  }
}

function red(alpha?: number): Sharp {
  const background = alpha === undefined ? RED : { ...RED, alpha };
  return sharp({ create: { ...SIZE, channels: alpha === undefined ? 3 : 4, background } });
}

it('an original with a very long side is refused before it is decoded', async () => {
  const inspect = (width: number) => encoder.inspect(async () => pngOf({ width, height: 1 }));
  await expect(inspect(65_535)).resolves.toMatchObject({ width: 65_535, height: 1 });
  await expect(inspect(65_536)).rejects.toMatchObject({ code: 'upstream_invalid' });
});

describe('an original’s colours', () => {
  it.each([
    ['CMYK with its profile', () => red().toColourspace('cmyk').withIccProfile('cmyk').jpeg({ quality: 100 })],
    ['another RGB profile', () => red().withIccProfile('p3').png()],
    ['16 bits', () => red().toColourspace('rgb16').png()],
    ['a palette', () => red().png({ palette: true })],
    ['GIF', () => red().gif()],
    ['AVIF', () => red().avif({ effort: 0 })],
    ['WebP', () => red().webp()],
  ])('are kept as sRGB, without a profile, from %s', async (_, draw) => {
    const bytes = await draw().toBuffer();
    for (const format of FORMATS) {
      const image = await encodeWhole(bytes, format);
      expect(await sharp(image).metadata()).toMatchObject({ space: 'srgb', depth: 'uchar', hasProfile: false });
      expectColour((await firstPixel(image)).slice(0, 3), [192, 48, 32]);
    }
  });

  it.each([
    ['8 bits', () => red().greyscale().jpeg({ quality: 100 }), 94],
    [
      '16 bits',
      () =>
        sharp({ create: { ...SIZE, channels: 3, background: '#808080' } })
          .toColourspace('grey16')
          .png(),
      128,
    ],
  ])('are kept grey in %s', async (_, draw, grey) => {
    const bytes = await draw().toBuffer();
    for (const format of FORMATS) expectColour(await firstPixel(await encodeWhole(bytes, format)), [grey, grey, grey]);
  });
});

describe('an original’s transparency', () => {
  it.each([
    ['RGBA', () => red(0.5).png()],
    ['a palette', () => red(0.5).png({ palette: true })],
    ['16 bits', () => red(0.5).toColourspace('rgb16').png()],
    ['WebP', () => red(0.5).webp({ lossless: true })],
    ['AVIF', () => red(0.5).avif({ lossless: true, effort: 0 })],
  ])('is kept, on white for JPEG, from %s', async (_, draw) => {
    const bytes = await draw().toBuffer();
    expect((await encoder.inspect(async () => bytes)).hasTransparency).toBe(true);
    for (const format of ['avif', 'webp', 'png'] as const) {
      expectColour(await firstPixel(await encodeWhole(bytes, format)), [192, 48, 32, 128]);
    }
    expectColour(await firstPixel(await encodeWhole(bytes, 'jpeg')), [224, 151, 144]);
  });

  it.each([
    ['PNG', (image: Sharp) => image.png()],
    ['PNG with a palette', (image: Sharp) => image.png({ palette: true })],
    ['PNG with 16 bits', (image: Sharp) => image.toColourspace('rgb16').png()],
    ['grey PNG', (image: Sharp) => image.toColourspace('b-w').png()],
    ['GIF', (image: Sharp) => image.gif()],
    ['WebP', (image: Sharp) => image.webp({ lossless: true })],
    ['AVIF', (image: Sharp) => image.avif({ lossless: true, effort: 0 })],
  ])('is what the pixels of the alpha channel say: %s', async (_, encodeAs) => {
    const opaque = await red(1).png().toBuffer();
    const hole = { input: { create: { width: 1, height: 1, channels: 4, background: '#0000' } } } as const;
    const pierced = sharp(opaque).composite([{ ...hole, left: 60, top: 40, blend: 'dest-in' }]);
    const hasTransparency = async (image: Sharp) =>
      (await encoder.inspect(() => encodeAs(image).toBuffer())).hasTransparency;
    expect(await hasTransparency(red())).toBe(false);
    expect(await hasTransparency(sharp(opaque))).toBe(false);
    expect(await hasTransparency(sharp(await pierced.png().toBuffer()))).toBe(true);
  });
});

describe('an original’s shape', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'is turned by EXIF orientation %i, and the field is removed',
    async (orientation) => {
      const card = { width: 600, height: 400 };
      const shown = { left: 120, top: 90, width: 400, height: 260 };
      const bytes = await storedTurned(await drawTestCard(card).png().toBuffer(), orientation);
      expect(await encoder.inspect(async () => bytes)).toMatchObject({
        ...card,
        hasTransparency: false,
      });
      const shownWhole = { originalSize: card, crop: shown, output: shown };
      const job = { readOriginal: async () => bytes, ...shownWhole, format: 'jpeg', quality: undefined } as const;
      const image = await encoder.encode(job, NEVER_ABORTED);
      expect(await differenceFromCard(image, drawTestCard(card), shown)).toBeLessThanOrEqual(2);
      const metadata = await sharp(image).metadata();
      expect(metadata).toMatchObject({ width: 400, height: 260 });
      expect(metadata.orientation).toBeUndefined();
      expect(metadata.exif).toBeUndefined();
    },
  );

  it('is turned also if a JPEG is shrunk while it is loaded', async () => {
    const card = { width: 1_200, height: 800 };
    const bytes = await storedTurned(await drawTestCard(card).png().toBuffer(), 6);
    const image = await encodeWhole(bytes, 'png', card, { output: { width: 120, height: 80 } });
    expect(await sharp(image).metadata()).toMatchObject({ width: 120, height: 80 });
    // Not exactly the same filter: a wrong turn differs by 100.
    expect(await differenceFromCard(image, drawTestCard(card), { left: 0, top: 0, ...card })).toBeLessThan(4);
  });

  it.each(['gif', 'webp'] as const)('is the first frame of an animated %s', async (format) => {
    const blue = sharp({ create: { ...SIZE, channels: 3, background: { r: 0, g: 0, b: 255 } } });
    const frames = [await red().png().toBuffer(), await blue.png().toBuffer()];
    const bytes = await sharp(frames, { join: { animated: true } })
      .toFormat(format, { lossless: true })
      .toBuffer();
    expect((await sharp(bytes).metadata()).pages).toBe(2);
    expect(await encoder.inspect(async () => bytes)).toMatchObject(SIZE);
    for (const output of FORMATS) {
      const image = await encodeWhole(bytes, output);
      expect(await sharp(image).metadata()).toMatchObject(SIZE);
      expectColour((await firstPixel(image)).slice(0, 3), [192, 48, 32]);
    }
  });
});

/** The pixels that a camera held that way would have stored. */
async function storedTurned(image: Buffer, orientation: number): Promise<Buffer> {
  const undo: Record<number, (image: Sharp) => Sharp> = {
    1: (image) => image,
    2: (image) => image.flop(),
    3: (image) => image.rotate(180),
    4: (image) => image.flip(),
    5: (image) => image.rotate(90),
    6: (image) => image.rotate(270),
    7: (image) => image.rotate(90),
    8: (image) => image.rotate(90),
  };
  let stored = (await undo[orientation]?.(sharp(image)).png().toBuffer()) ?? image;
  if (orientation === 5) stored = await sharp(stored).flop().png().toBuffer();
  if (orientation === 7) stored = await sharp(stored).flip().png().toBuffer();
  return sharp(stored).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();
}

describe('an unusable image is refused', () => {
  const drawPhoto = () => drawTestCard({ width: 800, height: 450 });

  it.each([
    ['no bytes at all', async () => Buffer.alloc(0)],
    ['text', async () => Buffer.from('<!doctype html><title>Sorry</title>'.repeat(10))],
    ['SVG', async () => SVG],
    ['SVG that begins like a PNG', async () => Buffer.concat([(await red().png().toBuffer()).subarray(0, 8), SVG])],
    ['TIFF', async () => red().tiff().toBuffer()],
    ['a JPEG cut at the last hundredth', async () => cut(await drawPhoto().jpeg().toBuffer(), 0.99)],
    ['a progressive JPEG cut', async () => cut(await drawPhoto().jpeg({ progressive: true }).toBuffer(), 0.9)],
    ['a PNG cut', async () => cut(await drawPhoto().png().toBuffer(), 0.9)],
    ['a WebP cut', async () => cut(await drawPhoto().webp().toBuffer(), 0.9)],
    ['an AVIF cut', async () => cut(await drawPhoto().avif({ effort: 0 }).toBuffer(), 0.9)],
    ['a GIF cut', async () => cut(await drawPhoto().gif().toBuffer(), 0.9)],
    ['51 megapixels', async () => pngOf({ width: 10_000, height: 5_100 })],
  ])('%s', async (_, draw) => {
    const bytes = await draw();
    await expect(encoder.inspect(async () => bytes)).rejects.toMatchObject({ code: 'upstream_invalid' });
  });

  it('unless it is complete and only has bytes after its end, or has just under 50 megapixels', async () => {
    const trailed = Buffer.concat([await drawPhoto().jpeg().toBuffer(), Buffer.from('appended by a camera')]);
    expect(await encoder.inspect(async () => trailed)).toMatchObject({ width: 800, height: 450 });
    const large = pngOf({ width: 10_000, height: 4_999 });
    expect(await encoder.inspect(async () => large)).toMatchObject({ width: 10_000 });
  });

  it('also without an earlier inspection', async () => {
    const refused = expect.objectContaining({ code: 'upstream_invalid' });
    await expect(encodeWhole(SVG, 'png')).rejects.toEqual(refused);
    await expect(encodeWhole(pngOf({ width: 10_000, height: 5_100 }), 'png')).rejects.toEqual(refused);
  });
});

const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48"><rect width="64" height="48"/></svg>',
);

function cut(bytes: Buffer, part: number): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length * part));
}

it.each(['avif', 'webp', 'jpeg'] as const)('the quality in the request overrides the default in %s', async (format) => {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const bytes = await sharp({ create: { ...SIZE, channels: 3, background: 'grey', noise } })
    .png()
    .toBuffer();
  const lengthAt = async (quality?: number) => (await encodeWhole(bytes, format, SIZE, { quality })).length;
  expect(await lengthAt(5)).toBeLessThan(await lengthAt());
  expect(await lengthAt()).toBeLessThan(await lengthAt(100));
});
