import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { FORMATS, type Format } from '../../src/domain/formats.ts';
import { cropOf, resolveOutput, type Size, VARIANTS, type Variant } from '../../src/domain/variants.ts';
import { NEVER_ABORTED } from '../../src/lib/deadlines.ts';
import { sharedEncoder } from '../helpers/encoder.ts';
import { differenceFromCard, drawTestCard } from '../helpers/test-card.ts';

/** A lossy format changes brightness by 1 to 2; a shift of one pixel by 5. */
const TOLERANCE = 2;

const encoder = sharedEncoder();

/** The shapes of real ones, with fewer pixels to compare. */
describe.each([
  { width: 530, height: 298 },
  { width: 500, height: 500 },
  { width: 750, height: 125 },
])('an original of $width×$height', (source: Size) => {
  const card = drawTestCard(source);
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await card.clone().png().toBuffer();
  });

  async function expectTrue(variant: Variant, format: Format): Promise<void> {
    const crop = cropOf(variant, source);
    const { width, height } = crop;
    const job = {
      readOriginal: async () => bytes,
      originalSize: source,
      crop,
      output: { width, height },
      format,
      quality: undefined,
    };
    const image = await encoder.encode(job, NEVER_ABORTED);
    expect(await sharp(image).metadata(), variant).toMatchObject({ width, height, space: 'srgb' });
    expect(await differenceFromCard(image, card, crop), variant).toBeLessThanOrEqual(TOLERANCE);
  }

  it.each(VARIANTS)('has the exact pixels of the crop %s', (variant) => expectTrue(variant, 'png'));

  // The crop does not depend on the format.
  it.each(FORMATS)('has the exact pixels of a crop in %s', (format) => expectTrue('mobile', format));

  it.each([{ height: 160 }, { width: 300, height: 300 }])(
    'has the right part at the requested size: %o',
    async (wanted) => {
      for (const variant of VARIANTS) {
        const { crop, output } = resolveOutput(cropOf(variant, source), wanted);
        const job = {
          readOriginal: async () => bytes,
          originalSize: source,
          crop,
          output,
          format: 'webp',
          quality: 90,
        } as const;
        const image = await encoder.encode(job, NEVER_ABORTED);
        expect(await sharp(image).metadata(), variant).toMatchObject({ ...output });
        expect(await differenceFromCard(image, card, crop), variant).toBeLessThanOrEqual(TOLERANCE);
      }
    },
  );
});
