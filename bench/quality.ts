import sharp from 'sharp';
import { FORMATS, type Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER, type Variant } from '../src/domain/variants.ts';
import { type Effort, encoderOptions } from '../src/images/encoder/job.ts';
import type { BenchImage } from './images.ts';
import { cutPixels, likenessOf } from './likeness.ts';
import type { Print, Row } from './report.ts';

const VARIANTS: readonly Variant[] = ['desktop'];
const EFFORTS: readonly Effort[] = ['fast', 'optimized'];
const SETTINGS: readonly Setting[] = VARIANTS.flatMap((variant) =>
  FORMATS.flatMap((format) => EFFORTS.map((effort) => ({ variant, format, effort }))),
);

interface Setting {
  readonly variant: Variant;
  readonly format: Format;
  readonly effort: Effort;
}

interface Encoding {
  readonly ssim: number;
  readonly bytes: number;
  readonly ms: number;
}

/** The figures by which encoder settings are chosen: likeness, size and time for each variant, format and effort. */
export async function benchQuality(
  groups: Readonly<Record<string, readonly BenchImage[]>>,
  print: Print,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [group, images] of Object.entries(groups)) {
    if (images.length === 0) print(`  skipped: there are no ${group}`);
    else for (const setting of SETTINGS) rows.push(await rowOf(group, images, setting));
  }
  return rows;
}

async function rowOf(group: string, images: readonly BenchImage[], setting: Setting): Promise<Row> {
  const encodings: Encoding[] = [];
  for (const image of images) encodings.push(await encode(image, setting));
  const mean = (name: keyof Encoding) => encodings.reduce((sum, each) => sum + each[name], 0) / encodings.length;
  const worst = Math.min(...encodings.map(({ ssim }) => ssim));
  const { variant, format, effort } = setting;
  return {
    part: 'encode',
    what: `quality of ${variant}.${format}, ${effort}, ${group}`,
    measured: `SSIM ${mean('ssim').toFixed(4)} (worst ${worst.toFixed(4)}), ${(mean('bytes') / 1024).toFixed(0)} KiB, ${mean('ms').toFixed(0)} ms`,
    figures: { encodings },
  };
}

async function encode({ bytes }: BenchImage, { variant, format, effort }: Setting): Promise<Encoding> {
  const pixels = await cutPixels(bytes, cropOf(variant, REFERENCE_BANNER));
  const image = sharp(pixels.data, { raw: pixels.info });
  const startedMs = performance.now();
  const encoded = await image.toFormat(format, encoderOptions(format, effort, undefined)).toBuffer();
  const ms = performance.now() - startedMs;
  return { ssim: await likenessOf(encoded, pixels), bytes: encoded.length, ms };
}
