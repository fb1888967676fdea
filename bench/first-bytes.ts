import sharp from 'sharp';
import { formatRow } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER, type Variant } from '../src/domain/variants.ts';
import { encoderOptions } from '../src/images/encoder/job.ts';
import type { BenchImage } from './images.ts';
import type { Row } from './report.ts';
import { cutPixels, likenessOf, type Pixels } from './ssim.ts';

/** The widths at which pages show the crops. */
const OUTPUTS: readonly (readonly [Variant, number])[] = [
  ['tv', 1280],
  ['desktop', 2560],
  ['tablet', 1855],
  ['mobile', 1546],
  ['mobile', 640],
];
/** On both sides of the default, so that WebP's likeness lies between them. */
const QUALITY_STEPS = [-8, 0, 8] as const;
const MAX_IMAGES = 3;

interface Encoded {
  readonly bytes: number;
  readonly ssim: number;
  readonly ms: number;
}

/** The first encoding of each crop as AVIF, compared with WebP: as it is sent, and at the quality that looks the same. */
export async function benchFirstBytes(group: string, images: readonly BenchImage[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [variant, width] of OUTPUTS) {
    const all: { webp: Encoded; avif: Encoded; equalBytes: number }[] = [];
    for (const { bytes } of images.slice(0, MAX_IMAGES)) all.push(await compare(await shrink(bytes, variant, width)));
    const mean = (value: (each: (typeof all)[number]) => number) =>
      all.reduce((sum, each) => sum + value(each), 0) / all.length;
    const kib = (value: (each: (typeof all)[number]) => number) => `${(mean(value) / 1024).toFixed(1)} KiB`;
    const meansOf = (name: 'webp' | 'avif') =>
      `${kib((each) => each[name].bytes)}, SSIM ${mean((each) => each[name].ssim).toFixed(4)}, ${mean((each) => each[name].ms).toFixed(0)} ms`;
    rows.push({
      part: 'encode',
      what: `first ${variant} of ${width} px, ${group}: AVIF / WebP`,
      measured: `${meansOf('avif')} / ${meansOf('webp')}; AVIF at WebP's SSIM ${kib((each) => each.equalBytes)}`,
      figures: { all },
    });
  }
  return rows;
}

async function shrink(original: Buffer, variant: Variant, width: number): Promise<Pixels> {
  const whole = await cutPixels(original, cropOf(variant, REFERENCE_BANNER));
  return sharp(whole.data, { raw: whole.info }).resize({ width }).raw().toBuffer({ resolveWithObject: true });
}

async function compare(pixels: Pixels) {
  const webp = await encode(pixels, 'webp', formatRow('webp').quality ?? 0);
  const usual = formatRow('avif').quality ?? 0;
  const avifs: Encoded[] = [];
  for (const step of QUALITY_STEPS) avifs.push(await encode(pixels, 'avif', usual + step));
  return { webp, avif: avifs[QUALITY_STEPS.indexOf(0)] as Encoded, equalBytes: bytesAt(webp.ssim, avifs) };
}

/** The size at this likeness, on the line through the two nearest encodings; sizes grow by ratios. */
function bytesAt(ssim: number, encodings: readonly Encoded[]): number {
  const above = encodings.findIndex((each) => each.ssim >= ssim);
  const at = above === -1 ? encodings.length - 1 : Math.max(1, above);
  const [low, high] = [encodings[at - 1] as Encoded, encodings[at] as Encoded];
  const share = (ssim - low.ssim) / (high.ssim - low.ssim);
  return low.bytes * (high.bytes / low.bytes) ** share;
}

async function encode(pixels: Pixels, format: 'avif' | 'webp', quality: number): Promise<Encoded> {
  const startedMs = performance.now();
  const options = encoderOptions(format, 'fast', quality);
  const encoded = await sharp(pixels.data, { raw: pixels.info }).toFormat(format, options).toBuffer();
  const ms = performance.now() - startedMs;
  return { bytes: encoded.length, ssim: await likenessOf(encoded, pixels), ms };
}
