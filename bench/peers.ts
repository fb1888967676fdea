import { join } from 'node:path';
import type { Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { cutPixels, likenessOf, type Pixels } from './likeness.ts';
import { findImageMagick, type Peer, startIpx } from './peer-programs.ts';
import { type BenchPicture, readBackgrounds, readSampleBanners } from './pictures.ts';
import { stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { fetchGood, startPhotoService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const CROP = cropOf('desktop', REFERENCE_BANNER);
const FORMATS = ['avif', 'webp', 'jpeg'] as const;
const PICTURES_OF_EACH_KIND = 4;
/** The minimum ratio to IPX, for AVIF. */
const LEAST_SPEED_UP = 8;

interface Shot {
  readonly peer: string;
  readonly format: Format;
  readonly picture: string;
  readonly ms: number;
  readonly bytes: number;
  readonly ssim: number;
}

/** A new desktop crop from a stored original, as a visitor waits for it. */
export function bench(print: Print): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const photographs = (await readBackgrounds()).slice(0, PICTURES_OF_EACH_KIND);
    const pictures = [...photographs, ...(await readSampleBanners()).slice(0, PICTURES_OF_EACH_KIND)];
    const pennant = await startPennant(directory, pictures);
    let ipx: Peer | undefined;
    try {
      ipx = await startIpx(directory, pictures, print);
      const imageMagick = await findImageMagick(directory, pictures, print);
      const peers = [pennant, ipx, imageMagick].filter((peer) => peer !== undefined);
      const shots = await compareAll(pictures, peers, print);
      const rows = FORMATS.flatMap((format) =>
        peers.map((peer) => shotRow(format, peer, shotsOf(shots, peer, format))),
      );
      return ipx === undefined ? rows : [...rows, speedUpRow(shots, pennant, ipx)];
    } finally {
      await pennant.stop?.();
      await ipx?.stop?.();
    }
  });
}

async function startPennant(directory: string, pictures: readonly BenchPicture[]): Promise<Peer> {
  const service = await startPhotoService(join(directory, 'service'), pictures);
  // Stores the originals, because their download is not part of the encoding time.
  for (const picture of pictures) await fetchGood(service.urlOf(picture, 'mobile.jpg'));
  return {
    name: 'Pennant',
    make: (picture, _crop, format) =>
      fetchGood(service.urlOf(picture, `desktop.${format === 'jpeg' ? 'jpg' : format}`)),
    stop: () => stopProcess(service),
  };
}

/** The programs take turns for each picture, so that other work on the machine affects all of them equally. */
async function compareAll(
  [first, ...others]: readonly BenchPicture[],
  peers: readonly Peer[],
  print: Print,
): Promise<Shot[]> {
  if (first === undefined) throw new Error('There is no picture to encode');
  const shots: Shot[] = [];
  for (const format of FORMATS) {
    print(`  ${format}`);
    // Loads the code for a first picture.
    for (const peer of peers) await peer.make(first, CROP, format);
    for (const picture of others) {
      const reference = await cutPixels(picture.bytes, CROP);
      for (const peer of peers) shots.push(await shoot(peer, picture, format, reference));
    }
  }
  return shots;
}

async function shoot(peer: Peer, picture: BenchPicture, format: Format, reference: Pixels): Promise<Shot> {
  const startedMs = performance.now();
  const body = await peer.make(picture, CROP, format);
  const ms = performance.now() - startedMs;
  const ssim = await likenessOf(body, reference);
  return { peer: peer.name, format, picture: picture.name, ms, bytes: body.length, ssim };
}

function shotsOf(shots: readonly Shot[], { name }: Peer, format: Format): Shot[] {
  return shots.filter((shot) => shot.peer === name && shot.format === format);
}

function shotRow(format: Format, { name }: Peer, shots: readonly Shot[]): Row {
  const ms = summarize(shots.map((shot) => shot.ms));
  const kib = summarize(shots.map((shot) => shot.bytes / 1024));
  const ssim = summarize(shots.map((shot) => shot.ssim));
  return {
    part: 'peers',
    what: `cold ${format} strip of ${shots.length} pictures: ${name}`,
    measured: `${formatSummary(ms, 0)} ms, ${formatSummary(kib, 0)} KiB, SSIM ${formatSummary(ssim, 4)}`,
    figures: { shots },
  };
}

function speedUpRow(shots: readonly Shot[], pennant: Peer, ipx: Peer): Row {
  const own = shotsOf(shots, pennant, 'avif');
  const ratio = summarize(shotsOf(shots, ipx, 'avif').map(({ ms }, at) => ms / (own[at] as Shot).ms));
  return {
    part: 'peers',
    what: 'cold AVIF strip: times quicker than IPX',
    measured: formatSummary(ratio, 1),
    target: `at least ${LEAST_SPEED_UP}`,
    isMet: ratio.median >= LEAST_SPEED_UP,
  };
}
