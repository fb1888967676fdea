import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { FORMATS } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER, type Variant } from '../src/domain/variants.ts';
import { createEncoder } from '../src/images/encoder/encoder.ts';
import type { EncodeJob } from '../src/images/encoder/job.ts';
import { systemClock } from '../src/lib/clock.ts';
import { NEVER_ABORTED } from '../src/lib/deadlines.ts';
import { type BenchImage, encodeBare, readBackgrounds, readSampleBanners } from './images.ts';
import type { Print, Row } from './report.ts';
import { summarize, timeMs } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const ROUNDS = 15;
const VARIANTS: readonly Variant[] = ['desktop', 'tv'];

/** The cost of the encoder processes compared with library calls. */
export async function bench(print: Print): Promise<Row[]> {
  sharp.concurrency(1);
  sharp.cache(false);
  const [image] = [...(await readBackgrounds()), ...(await readSampleBanners())];
  print('encoding an image by an encoder process and by the bare library');
  return inTemporaryDirectory((directory) => compareWithBare(directory, image as BenchImage));
}

/** A new crop of a stored original, in interleaved rounds. */
async function compareWithBare(directory: string, { bytes }: BenchImage): Promise<Row[]> {
  const file = path.join(directory, 'original');
  await writeFile(file, bytes);
  const readOriginal = () => readFile(file);
  const encoder = createEncoder({ processes: 1, clock: systemClock });
  try {
    const rows: Row[] = [];
    for (const variant of VARIANTS) {
      const crop = cropOf(variant, REFERENCE_BANNER);
      for (const format of FORMATS) {
        const image = { originalSize: REFERENCE_BANNER, crop, output: crop };
        const job: EncodeJob = { readOriginal, ...image, format, quality: undefined };
        const pooled = () => encoder.encode(job, NEVER_ABORTED);
        const bare = async () => encodeBare(await readOriginal(), crop, format);
        const kib = ((await pooled()).length / 1024).toFixed(0);
        await bare();
        rows.push(await compare(`${variant}.${format} (${kib} KiB): Pennant / bare sharp`, pooled, bare));
      }
    }
    return rows;
  } finally {
    await encoder.close();
  }
}

async function compare(what: string, pooled: () => Promise<Buffer>, bare: () => Promise<Buffer>): Promise<Row> {
  const times = { pooled: [] as number[], bare: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    times.pooled.push(await timeMs(pooled));
    times.bare.push(await timeMs(bare));
  }
  const [pooledMs, bareMs] = [summarize(times.pooled).median, summarize(times.bare).median];
  return {
    part: 'encode',
    what,
    measured: `${pooledMs.toFixed(1)} ms / ${bareMs.toFixed(1)} ms = ${(pooledMs / bareMs).toFixed(2)}`,
    figures: times,
  };
}
