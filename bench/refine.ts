import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FORMATS, type Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { createEncoder, type Encoder } from '../src/images/encoder/encoder.ts';
import type { EncodeJob, JobOptions } from '../src/images/encoder/job.ts';
import { type Plane, structuralSimilarity } from '../src/images/encoder/ssim.ts';
import { startIpx } from './ipx-peer.ts';
import { cutPixels, decodeLuma, lumaOf } from './likeness.ts';
import type { Peer } from './peers.ts';
import { type BenchPicture, readBackgrounds, readSampleBanners } from './pictures.ts';
import type { Row } from './report.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const CROP = cropOf('mobile', REFERENCE_BANNER);
const PICTURES_OF_EACH_KIND = 3;
const ANYONE: JobOptions = { signal: new AbortController().signal, client: '' };

interface Encoding {
  readonly bytes: number;
  /** SSIM of luma, compared with the uncompressed crop. */
  readonly ssim: number;
}

interface Refinement {
  readonly first: Encoding;
  /** The picture that is sent from then on: the smaller one, or the first one. */
  readonly later: Encoding;
  readonly isKept: boolean;
  readonly peer: Encoding | undefined;
}

/** The final size of an often requested picture, compared with its first response and with IPX. */
export function benchRefine(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory((directory) => benchIn(directory, print));
}

async function benchIn(directory: string, print: (line: string) => void): Promise<Row[]> {
  const photographs = (await readBackgrounds()).slice(0, PICTURES_OF_EACH_KIND);
  const pictures = [...photographs, ...(await readSampleBanners()).slice(0, PICTURES_OF_EACH_KIND)];
  const peer = await startIpx(directory, pictures, print);
  const encoder = createEncoder({ processes: 1, deadlineMs: 60_000 });
  try {
    const rows: Row[] = [];
    for (const format of FORMATS) {
      const results: Refinement[] = [];
      for (const picture of pictures) results.push(await refine({ picture, format, directory, encoder, peer }));
      rows.push(...rowsOf(format, results, peer?.name));
      print(`  ${format}: ${results.filter(({ isKept }) => isKept).length} of ${results.length} kept`);
    }
    return rows;
  } finally {
    await encoder.close();
    await peer?.stop();
  }
}

interface Subject {
  readonly picture: BenchPicture;
  readonly format: Format;
  readonly directory: string;
  readonly encoder: Encoder;
  readonly peer: Peer | undefined;
}

async function refine({ picture, format, directory, encoder, peer }: Subject): Promise<Refinement> {
  const original = { path: join(directory, `${picture.name}.jpg`) };
  await writeFile(original.path, picture.bytes);
  const reference = lumaOf(await cutPixels(picture.bytes, CROP));
  const job: EncodeJob = { original, crop: CROP, output: CROP, format, quality: undefined };
  const quick = await encoder.encode(job, ANYONE);
  const refined = await encoder.reencode({ ...job, effort: 'optimized' }, quick, ANYONE);
  const first = await describe(quick, reference);
  return {
    first,
    later: refined === undefined ? first : await describe(refined, reference),
    isKept: refined !== undefined,
    peer: peer && (await describe(await peer.make(picture, CROP, format), reference)),
  };
}

async function describe(bytes: Buffer, reference: Plane): Promise<Encoding> {
  return { bytes: bytes.length, ssim: structuralSimilarity(reference, await decodeLuma(bytes)) };
}

function rowsOf(format: Format, results: readonly Refinement[], peerName: string | undefined): Row[] {
  const ratio = summarize(results.map(({ first, later }) => later.bytes / first.bytes));
  const kept = results.filter(({ isKept }) => isKept).length;
  const part = 'refine';
  const rows: Row[] = [
    {
      part,
      what: `${format}: after refinement / first answer, ${results.length} pictures`,
      measured: `${meansOf(results.map(({ later }) => later))} / ${meansOf(results.map(({ first }) => first))}, bytes ${formatSummary(ratio, 2)}, kept ${kept} times`,
      target: 'smaller at no worse SSIM for most',
      isMet: kept > results.length / 2 && results.every(({ first, later }) => isNoWorse(first, later)),
      figures: { results },
    },
  ];
  const peers = results.flatMap(({ peer }) => (peer === undefined ? [] : [peer]));
  if (peerName !== undefined)
    rows.push({ part, what: `${format}: ${peerName}, default settings`, measured: meansOf(peers) });
  return rows;
}

/** The encoder measures brightness by a slightly different formula. */
const SSIM_TOLERANCE = 0.0005;

function isNoWorse(first: Encoding, later: Encoding): boolean {
  return later.bytes <= first.bytes && later.ssim >= first.ssim - SSIM_TOLERANCE;
}

function meansOf(encodings: readonly Encoding[]): string {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const kib = mean(encodings.map(({ bytes }) => bytes / 1024));
  return `${kib.toFixed(1)} KiB (SSIM ${mean(encodings.map(({ ssim }) => ssim)).toFixed(4)})`;
}
