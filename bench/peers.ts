import { join } from 'node:path';
import type { Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER, type Rectangle } from '../src/domain/variants.ts';
import { type Plane, structuralSimilarity } from '../src/images/encoder/ssim.ts';
import { fetchGood } from './answer.ts';
import { startImageFilter } from './image-filter-peer.ts';
import { findImageMagick } from './imagemagick-peer.ts';
import { startIpx } from './ipx-peer.ts';
import { cutPixels, decodeLuma, lumaOf } from './likeness.ts';
import { startPhotoService } from './photo-service.ts';
import { type BenchPicture, readBackgrounds, readSampleBanners } from './pictures.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

/** A program that crops and encodes pictures with its default settings, without a cache. */
export interface Peer {
  readonly name: string;
  readonly formats: readonly Format[];
  make(picture: BenchPicture, crop: Rectangle, format: Format): Promise<Buffer>;
  stop(): Promise<void>;
}

const CROP = cropOf('desktop', REFERENCE_BANNER);
const FORMATS = ['avif', 'webp', 'jpeg'] as const;
const PICTURES_OF_EACH_KIND = 4;
/** The minimum ratio to IPX, for AVIF. */
const LEAST_SPEED_UP = 8;
const IPX = /^IPX/;

interface Shot {
  readonly peer: string;
  readonly format: Format;
  readonly picture: string;
  readonly ms: number;
  readonly bytes: number;
  /** SSIM of luma, compared with the uncompressed crop. */
  readonly ssim: number;
}

/** A new desktop crop from a stored original, as a visitor waits for it. */
export function benchPeers(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory((directory) => benchIn(directory, print));
}

async function benchIn(directory: string, print: (line: string) => void): Promise<Row[]> {
  const photographs = (await readBackgrounds()).slice(0, PICTURES_OF_EACH_KIND);
  const pictures = [...photographs, ...(await readSampleBanners()).slice(0, PICTURES_OF_EACH_KIND)];
  const peers: Peer[] = [];
  try {
    peers.push(await startPennant(directory, pictures));
    for (const peer of [
      await startIpx(directory, pictures, print),
      await startImageFilter(directory, pictures, print),
      await findImageMagick(directory, pictures),
    ]) {
      if (peer !== undefined) peers.push(peer);
    }
    return rowsOf(peers, await compareAll(pictures, peers, print));
  } finally {
    for (const peer of peers) await peer.stop();
  }
}

async function startPennant(directory: string, pictures: readonly BenchPicture[]): Promise<Peer> {
  const service = await startPhotoService(join(directory, 'service'), pictures);
  // Stores the originals, because their download is not part of the encoding time.
  for (const picture of pictures) await fetchGood(service.urlOf(picture, 'mobile.jpg'));
  return {
    name: 'Pennant',
    formats: FORMATS,
    make: (picture, _crop, format) =>
      fetchGood(service.urlOf(picture, `desktop.${format === 'jpeg' ? 'jpg' : format}`)),
    stop: () => stopProcess(service.child),
  };
}

/** The programs take turns for each picture, so that other work on the machine affects all of them equally. */
async function compareAll(
  [first, ...others]: readonly BenchPicture[],
  peers: readonly Peer[],
  print: (line: string) => void,
): Promise<Shot[]> {
  if (first === undefined) throw new Error('There is no picture to encode');
  const shots: Shot[] = [];
  for (const format of FORMATS) {
    const asked = peers.filter(({ formats }) => formats.includes(format));
    // Loads the code for a first picture.
    for (const peer of asked) await peer.make(first, CROP, format);
    for (const picture of others) {
      const reference = lumaOf(await cutPixels(picture.bytes, CROP));
      for (const peer of asked) shots.push(await shoot(peer, picture, format, reference));
    }
    print(`  ${format}: ${asked.map(({ name }) => name).join(', ')}`);
  }
  return shots;
}

async function shoot(peer: Peer, picture: BenchPicture, format: Format, reference: Plane): Promise<Shot> {
  const startedMs = performance.now();
  const body = await peer.make(picture, CROP, format);
  const ms = performance.now() - startedMs;
  const ssim = structuralSimilarity(reference, await decodeLuma(body));
  return { peer: peer.name, format, picture: picture.name, ms, bytes: body.length, ssim };
}

function rowsOf(peers: readonly Peer[], shots: readonly Shot[]): Row[] {
  const of = (peer: string, format: Format) => shots.filter((shot) => shot.peer === peer && shot.format === format);
  const rows = FORMATS.flatMap((format) =>
    peers
      .map(({ name }) => ({ name, own: of(name, format) }))
      .filter(({ own }) => own.length > 0)
      .map(({ name, own }) => shotRow(name, format, own)),
  );
  const ipx = peers.find(({ name }) => IPX.test(name))?.name;
  if (ipx === undefined) return rows;
  const slower = of(ipx, 'avif').map(({ ms }, at) => ms / (of('Pennant', 'avif')[at]?.ms ?? 0));
  const ratio = summarize(slower);
  return [
    ...rows,
    {
      part: 'peers',
      what: 'cold AVIF strip: times quicker than IPX',
      measured: formatSummary(ratio, 1),
      target: `at least ${LEAST_SPEED_UP}`,
      isMet: ratio.median >= LEAST_SPEED_UP,
    },
  ];
}

function shotRow(peer: string, format: Format, shots: readonly Shot[]): Row {
  const ms = summarize(shots.map((shot) => shot.ms));
  const kib = summarize(shots.map((shot) => shot.bytes / 1024));
  const ssim = summarize(shots.map((shot) => shot.ssim));
  return {
    part: 'peers',
    what: `cold ${format} strip of ${shots.length} pictures: ${peer}`,
    measured: `${formatSummary(ms, 0)} ms, ${formatSummary(kib, 0)} KiB, SSIM ${formatSummary(ssim, 4)}`,
    figures: { shots },
  };
}
