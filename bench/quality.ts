import sharp from 'sharp';
import { FORMATS, type Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER, type Variant } from '../src/domain/variants.ts';
import { type Effort, encoderOptions } from '../src/images/encoder/job.ts';
import { type BenchImage, encodeBare } from './images.ts';
import type { Print, Row } from './report.ts';
import { cutPixels, likenessOf } from './ssim.ts';

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
    else {
      for (const setting of SETTINGS) rows.push(await rowOf(group, images, setting));
      rows.push(await wholeRow(group, images));
    }
  }
  return rows;
}

/** What the encoding of a whole original costs and loses, in the original's own size and format. */
async function wholeRow(group: string, images: readonly BenchImage[]): Promise<Row> {
  const crop = cropOf('tv', REFERENCE_BANNER);
  const encodings: Encoding[] = [];
  for (const { bytes } of images) {
    const startedMs = performance.now();
    const encoded = await encodeBare(bytes, crop, 'jpeg');
    const ms = performance.now() - startedMs;
    encodings.push({ ssim: await likenessOf(encoded, await cutPixels(bytes, crop)), bytes: encoded.length, ms });
  }
  const originalKib = images.reduce((sum, { bytes }) => sum + bytes.length, 0) / images.length / 1024;
  return {
    part: 'encode',
    what: `a whole JPEG original as tv.jpeg, ${group}`,
    measured: `from ${originalKib.toFixed(0)} KiB: ${meansOf(encodings)}`,
    figures: { encodings },
  };
}

/** The means, and the lowest likeness. */
function meansOf(encodings: readonly Encoding[]): string {
  const mean = (name: keyof Encoding) => encodings.reduce((sum, each) => sum + each[name], 0) / encodings.length;
  const worst = Math.min(...encodings.map(({ ssim }) => ssim));
  return `SSIM ${mean('ssim').toFixed(4)} (worst ${worst.toFixed(4)}), ${(mean('bytes') / 1024).toFixed(0)} KiB, ${mean('ms').toFixed(0)} ms`;
}

async function rowOf(group: string, images: readonly BenchImage[], setting: Setting): Promise<Row> {
  const encodings: Encoding[] = [];
  for (const image of images) encodings.push(await encode(image, setting));
  const { variant, format, effort } = setting;
  return {
    part: 'encode',
    what: `quality of ${variant}.${format}, ${effort}, ${group}`,
    measured: meansOf(encodings),
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
