import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMATS, type Format, formatRow } from '../../src/domain/formats.ts';
import { cropOf, resolveOutput, type Size, VARIANTS, type Variant } from '../../src/domain/variants.ts';
import { createEncoder, type Encoder } from '../../src/images/encoder/encoder.ts';
import type { JobOptions } from '../../src/images/encoder/job.ts';
import { drawTestCard, measureOffset } from '../helpers/test-card.ts';

const ANYONE: JobOptions = { signal: new AbortController().signal, client: '' };
const TOLERANCE_PX = 1;

let encoder: Encoder;
beforeAll(() => {
  encoder = createEncoder();
});
afterAll(() => encoder.close());

describe.each([
  { width: 2560, height: 1440 },
  { width: 2048, height: 1152 },
  { width: 2120, height: 1192 },
  { width: 1000, height: 1000 },
  { width: 3000, height: 500 },
])('an original of $width×$height', (source: Size) => {
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await drawTestCard(source).png().toBuffer();
  });

  async function expectTrue(variant: Variant, format: Format): Promise<void> {
    const crop = cropOf(variant, source);
    const { width, height } = crop;
    const job = { original: { bytes }, crop, output: { width, height }, format, quality: undefined };
    const picture = await encoder.encode(job, ANYONE);
    expect(await sharp(picture).metadata(), variant).toMatchObject({ width, height, space: 'srgb' });
    expect(await measureOffset(picture, source, crop), variant).toBeLessThanOrEqual(TOLERANCE_PX);
  }

  it.each(VARIANTS)('has the exact pixels of the crop %s', (variant) => expectTrue(variant, 'png'));

  // The crop does not depend on the format.
  it.each(FORMATS)('has the exact pixels of a crop in %s', (format) => expectTrue('mobile', format));

  it.each([{ width: 640 }, { height: 160 }, { width: 300, height: 300 }, { width: 1200, height: 160 }])(
    'has the right part at the requested size: %o',
    async (wanted) => {
      for (const variant of VARIANTS) {
        const { crop, output } = resolveOutput(cropOf(variant, source), wanted);
        const job = { original: { bytes }, crop, output, format: 'webp', quality: 90 } as const;
        const picture = await encoder.encode(job, ANYONE);
        expect(await sharp(picture).metadata(), variant).toMatchObject({ ...output });
        expect(await measureOffset(picture, source, crop), variant).toBeLessThanOrEqual(TOLERANCE_PX);
      }
    },
  );
});

describe('the longest side of a format', () => {
  // PNG allows more than any original has.
  it.each(['avif', 'webp', 'jpeg'] as const)('is what the library can encode in %s', async (format) => {
    const encodeRow = async (width: number) => {
      const row = { width, height: 4 };
      const bytes = await sharp({ create: { ...row, channels: 3, background: 'red' } })
        .png()
        .toBuffer();
      const crop = { left: 0, top: 0, ...row };
      return encoder.encode({ original: { bytes }, crop, output: row, format, quality: undefined }, ANYONE);
    };
    const longest = formatRow(format).maxSidePx;
    expect(await sharp(await encodeRow(longest)).metadata()).toMatchObject({ width: longest, height: 4 });
    await expect(encodeRow(longest + 1)).rejects.toThrow();
  });
});

describe('the test card', () => {
  it('detects a crop that is off by two pixels, mirrored or scaled', async () => {
    const card = { width: 1000, height: 600 };
    const bytes = await drawTestCard(card).png().toBuffer();
    const shown = { left: 100, top: 80, width: 700, height: 400 };
    const right = await sharp(bytes).extract(shown).png().toBuffer();
    const shifted = await sharp(bytes)
      .extract({ ...shown, left: 102 })
      .png()
      .toBuffer();
    const scaled = await sharp(bytes)
      .extract({ ...shown, width: 706 })
      .resize(700, 400, { fit: 'fill' })
      .png()
      .toBuffer();
    expect(await measureOffset(right, card, shown)).toBeLessThan(0.01);
    expect(await measureOffset(shifted, card, shown)).toBeGreaterThan(TOLERANCE_PX);
    expect(await measureOffset(scaled, card, shown)).toBeGreaterThan(TOLERANCE_PX);
    expect(await measureOffset(await sharp(right).flop().toBuffer(), card, shown)).toBe(Number.POSITIVE_INFINITY);
  });
});
