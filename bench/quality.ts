import sharp from 'sharp';
import { FORMATS, type Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER, type Variant } from '../src/domain/variants.ts';
import { encoderOptions } from '../src/images/encoder/job.ts';
import type { BenchImage } from './images.ts';
import type { Print, Row } from './report.ts';
import { cutPixels, likenessOf, type Pixels } from './ssim.ts';

/** The widths at which pages show the crops. */
const OUTPUTS: readonly (readonly [Variant, number])[] = [
  ['mobile', 640],
  ['desktop', 2560],
  ['tv', 2560],
];
const SETTINGS: readonly Setting[] = OUTPUTS.flatMap(([variant, width]) =>
  FORMATS.map((format) => ({ variant, width, format })),
);

interface Setting {
  readonly variant: Variant;
  readonly width: number;
  readonly format: Format;
}

interface Encoding {
  readonly ssim: number;
  readonly bytes: number;
  /** CPU time. */
  readonly ms: number;
}

/** What the service makes of images: likeness, size and CPU time for each crop and format. */
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
  const { variant, width, format } = setting;
  return {
    part: 'encode',
    what: `${variant}.${format} of ${width} px, ${group}`,
    measured: `SSIM ${mean('ssim').toFixed(4)}, ${(mean('bytes') / 1024).toFixed(0)} KiB, ${mean('ms').toFixed(0)} ms`,
    figures: { encodings },
  };
}

async function encode({ bytes }: BenchImage, { variant, width, format }: Setting): Promise<Encoding> {
  const pixels = await shrink(bytes, variant, width);
  const before = process.cpuUsage();
  const encoded = await sharp(pixels.data, { raw: pixels.info })
    .toFormat(format, encoderOptions(format, pixels.info, undefined))
    .toBuffer();
  const { user, system } = process.cpuUsage(before);
  return { ssim: await likenessOf(encoded, pixels), bytes: encoded.length, ms: (user + system) / 1000 };
}

async function shrink(original: Buffer, variant: Variant, width: number): Promise<Pixels> {
  const whole = await cutPixels(original, cropOf(variant, REFERENCE_BANNER));
  return sharp(whole.data, { raw: whole.info }).resize({ width }).raw().toBuffer({ resolveWithObject: true });
}
