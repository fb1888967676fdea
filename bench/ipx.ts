import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { structuralSimilarity } from '../src/images/encoder/ssim.ts';
import { type IpxPeer, startIpx } from './ipx-peer.ts';
import { cutPixels, decodeLuma, lumaOf } from './likeness.ts';
import { type PhotoService, startPhotoService } from './photo-service.ts';
import { type BenchPicture, readBackgrounds, readSampleBanners } from './pictures.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { type Summary, summarize } from './statistics.ts';

const CROP = cropOf('desktop', REFERENCE_BANNER);
const PICTURES_OF_EACH_KIND = 4;
const LEAST_SPEED_UP = 8;

interface Comparison {
  readonly picture: string;
  readonly own: Shot;
  readonly peer: Shot;
}

interface Shot {
  readonly ms: number;
  readonly bytes: number;
  /** Of luma against the uncompressed crop. */
  readonly ssim: number;
}

/** The strip that a desktop shows as AVIF, never asked for before, from a stored original: what a visitor waits for. */
export async function benchIpx(print: (line: string) => void): Promise<Row[]> {
  const photographs = (await readBackgrounds()).slice(0, PICTURES_OF_EACH_KIND);
  const pictures = [...photographs, ...(await readSampleBanners()).slice(0, PICTURES_OF_EACH_KIND)];
  const directory = await mkdtemp(join(tmpdir(), 'pennant-bench-ipx-'));
  const peer = await startIpx(directory, pictures, print);
  try {
    if (peer === undefined) {
      return [{ part: 'ipx', what: 'cold AVIF strip: Pennant / IPX', measured: 'skipped: IPX cannot be installed' }];
    }
    const service = await startPhotoService(join(directory, 'service'), pictures);
    try {
      return rowsOf(peer.name, await compareAll(pictures, service, peer, print));
    } finally {
      await stopProcess(service.child);
    }
  } finally {
    await peer?.stop();
    await rm(directory, { recursive: true });
  }
}

async function compareAll(
  pictures: readonly BenchPicture[],
  service: PhotoService,
  peer: IpxPeer,
  print: (line: string) => void,
): Promise<Comparison[]> {
  const [first] = pictures;
  if (first === undefined) throw new Error('There is no picture to encode');
  await fetchPicture(peer.urlOf(first.name, CROP, 'avif'));
  await fetchPicture(service.urlOf(first, 'tablet.avif'));
  const comparisons: Comparison[] = [];
  for (const picture of pictures) {
    // Stores the original: its way from upstream is nobody's encoding time.
    await fetchPicture(service.urlOf(picture, 'mobile.jpg'));
    const reference = lumaOf(await cutPixels(picture.bytes, CROP));
    const shoot = async (url: string): Promise<Shot> => {
      const { body, ms } = await fetchPicture(url);
      return { ms, bytes: body.length, ssim: structuralSimilarity(reference, await decodeLuma(body)) };
    };
    const own = await shoot(service.urlOf(picture, 'desktop.avif'));
    const other = await shoot(peer.urlOf(picture.name, CROP, 'avif'));
    comparisons.push({ picture: picture.name, own, peer: other });
    print(`  ${picture.name}: Pennant ${own.ms.toFixed(0)} ms, ${peer.name} ${other.ms.toFixed(0)} ms`);
  }
  return comparisons;
}

async function fetchPicture(url: string): Promise<{ body: Buffer; ms: number }> {
  const startedMs = performance.now();
  const response = await fetch(url);
  const body = Buffer.from(await response.arrayBuffer());
  const ms = performance.now() - startedMs;
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${body}`);
  return { body, ms };
}

function rowsOf(peerName: string, comparisons: readonly Comparison[]): Row[] {
  const ratio = summarize(comparisons.map(({ own, peer }) => peer.ms / own.ms));
  return [
    shotRow(
      'Pennant, first answer',
      comparisons.map(({ own }) => own),
    ),
    shotRow(
      `${peerName}, default settings`,
      comparisons.map(({ peer }) => peer),
    ),
    {
      part: 'ipx',
      what: 'cold AVIF strip: times quicker',
      measured: spread(ratio, 1),
      target: `at least ${LEAST_SPEED_UP}`,
      isMet: ratio.median >= LEAST_SPEED_UP,
      figures: { comparisons },
    },
  ];
}

function shotRow(what: string, shots: readonly Shot[]): Row {
  const ms = summarize(shots.map((shot) => shot.ms));
  const kib = summarize(shots.map((shot) => shot.bytes / 1024));
  const ssim = summarize(shots.map((shot) => shot.ssim));
  return {
    part: 'ipx',
    what: `cold AVIF strip of ${shots.length} pictures: ${what}`,
    measured: `${spread(ms, 0)} ms, ${spread(kib, 0)} KiB, SSIM ${spread(ssim, 4)}`,
  };
}

function spread({ median, lowest, highest }: Summary, digits: number): string {
  return `${median.toFixed(digits)} (${lowest.toFixed(digits)}–${highest.toFixed(digits)})`;
}
