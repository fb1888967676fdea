import sharp from 'sharp';
import { FORMATS, type Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { type Effort, encoderOptions } from '../src/images/encoder/job.ts';
import { structuralSimilarity } from '../src/images/encoder/ssim.ts';
import { cutPixels, decodeLuma, lumaOf } from './likeness.ts';
import { type BenchPicture, readBackgrounds, readSampleBanners } from './pictures.ts';

export interface QualityFigures {
  readonly pictures: string;
  readonly format: Format;
  readonly effort: Effort;
  /** SSIM of luma, compared with the uncompressed crop: the mean over the pictures, and the worst. */
  readonly meanSsim: number;
  readonly worstSsim: number;
  readonly meanBytes: number;
  readonly meanMs: number;
}

const EFFORTS: readonly Effort[] = ['fast', 'optimized'];

/** Quality, size and time of each format's settings for the desktop crop of samples and photographs. */
export async function measureQuality(): Promise<QualityFigures[]> {
  sharp.concurrency(1);
  const groups = [
    { pictures: 'samples', members: await readSampleBanners() },
    { pictures: 'photographs', members: await readBackgrounds() },
  ].filter(({ members }) => members.length > 0);
  const figures: QualityFigures[] = [];
  for (const { pictures, members } of groups) {
    for (const format of FORMATS) {
      for (const effort of EFFORTS)
        figures.push({ pictures, format, effort, ...(await measure(members, format, effort)) });
    }
  }
  return figures;
}

async function measure(pictures: readonly BenchPicture[], format: Format, effort: Effort) {
  const results: { ssim: number; bytes: number; ms: number }[] = [];
  for (const { bytes } of pictures) {
    const crop = await cutPixels(bytes, cropOf('desktop', REFERENCE_BANNER));
    const startedMs = performance.now();
    const encoded = await sharp(crop.data, { raw: crop.info })
      .toFormat(format, encoderOptions(format, effort, undefined))
      .toBuffer();
    const ms = performance.now() - startedMs;
    const ssim = structuralSimilarity(lumaOf(crop), await decodeLuma(encoded));
    results.push({ ssim, bytes: encoded.length, ms });
  }
  const ssims = results.map(({ ssim }) => ssim);
  return {
    meanSsim: mean(ssims),
    worstSsim: Math.min(...ssims),
    meanBytes: mean(results.map(({ bytes }) => bytes)),
    meanMs: mean(results.map(({ ms }) => ms)),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

if (import.meta.main) {
  console.log('| pictures | format | effort | SSIM, mean | worst | KiB | ms |\n|---|---|---|---|---|---|---|');
  for (const { pictures, format, effort, meanSsim, worstSsim, meanBytes, meanMs } of await measureQuality()) {
    const figures = [meanSsim.toFixed(4), worstSsim.toFixed(4), (meanBytes / 1024).toFixed(0), meanMs.toFixed(0)];
    console.log(`| ${[pictures, format, effort, ...figures].join(' | ')} |`);
  }
}
