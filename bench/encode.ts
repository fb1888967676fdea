import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { FORMATS, type Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER, type Variant } from '../src/domain/variants.ts';
import { createEncoder } from '../src/images/encoder/encoder.ts';
import { type EncodeJob, encoderOptions, type JobOptions } from '../src/images/encoder/job.ts';
import { readBackgrounds, readSampleBanners } from './pictures.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

export interface EncodeFigures {
  readonly variant: Variant;
  readonly format: Format;
  /** Medians for the encoder processes, and for the library calls in this process. */
  readonly pooledMs: number;
  readonly bareMs: number;
  readonly bytes: number;
}

const ROUNDS = 15;
const VARIANTS: readonly Variant[] = ['desktop', 'tv'];
const ANYONE: JobOptions = { signal: new AbortController().signal, client: '' };

/** A cold picture from a stored original: the cost of the encoder processes compared with library calls, in interleaved rounds. */
export function measureEncoding(): Promise<EncodeFigures[]> {
  return inTemporaryDirectory(measureIn);
}

async function measureIn(directory: string): Promise<EncodeFigures[]> {
  sharp.concurrency(1);
  sharp.cache(false);
  const [picture] = [...(await readBackgrounds()), ...(await readSampleBanners())];
  if (picture === undefined) throw new Error('There is no picture to encode');
  const original = { path: path.join(directory, 'original') };
  await writeFile(original.path, picture.bytes);
  const encoder = createEncoder({ processes: 1 });
  try {
    const figures: EncodeFigures[] = [];
    for (const variant of VARIANTS) {
      const crop = cropOf(variant, REFERENCE_BANNER);
      for (const format of FORMATS) {
        const job: EncodeJob = { original, crop, output: crop, format, quality: undefined };
        const pooled = () => encoder.encode(job, ANYONE);
        const bare = () => encodeBare(original.path, job);
        const bytes = (await pooled()).length;
        await bare();
        figures.push({ variant, format, bytes, ...(await compare(pooled, bare)) });
      }
    }
    return figures;
  } finally {
    await encoder.close();
  }
}

async function encodeBare(file: string, { crop, format }: EncodeJob): Promise<Buffer> {
  let picture = sharp(await readFile(file))
    .autoOrient()
    .extract(crop);
  if (format === 'jpeg') picture = picture.flatten({ background: 'white' });
  return picture.toFormat(format, encoderOptions(format, 'fast', undefined)).toBuffer();
}

async function compare(pooled: () => Promise<Buffer>, bare: () => Promise<Buffer>) {
  const pooledMs: number[] = [];
  const bareMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    pooledMs.push(await timeMs(pooled));
    bareMs.push(await timeMs(bare));
  }
  return { pooledMs: summarize(pooledMs).median, bareMs: summarize(bareMs).median };
}

async function timeMs(work: () => Promise<Buffer>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

if (import.meta.main) {
  console.log(
    '| variant | format | pooled ms | bare ms | ratio | more than 1.15 × bare by ms | KiB |\n|---|---|---|---|---|---|---|',
  );
  for (const { variant, format, pooledMs, bareMs, bytes } of await measureEncoding()) {
    const over = pooledMs - 1.15 * bareMs;
    const figures = [pooledMs.toFixed(1), bareMs.toFixed(1), (pooledMs / bareMs).toFixed(2), over.toFixed(1)];
    console.log(`| ${[variant, format, ...figures, (bytes / 1024).toFixed(0)].join(' | ')} |`);
  }
}
