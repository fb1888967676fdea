import { join } from 'node:path';
import type { Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { type BenchImage, readBackgrounds, readSampleBanners } from './images.ts';
import { findImageMagick, type Peer, startIpx } from './peer-programs.ts';
import { stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { fetchGood, startPhotoService } from './servers.ts';
import { cutPixels, likenessOf, type Pixels } from './ssim.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const CROP = cropOf('desktop', REFERENCE_BANNER);
const FORMATS = ['avif', 'webp', 'jpeg'] as const;
const IMAGES_OF_EACH_KIND = 4;
/** The minimum ratio to IPX, for AVIF. */
const LEAST_SPEED_UP = 8;

interface Shot {
  readonly peer: string;
  readonly format: Format;
  readonly image: string;
  readonly ms: number;
  readonly bytes: number;
  readonly ssim: number;
}

/** A new desktop crop from a stored original, as a visitor waits for it. */
export function bench(print: Print): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const photographs = (await readBackgrounds()).slice(0, IMAGES_OF_EACH_KIND);
    const images = [...photographs, ...(await readSampleBanners()).slice(0, IMAGES_OF_EACH_KIND)];
    const pennant = await startPennant(directory, images);
    let ipx: Peer | undefined;
    try {
      ipx = await startIpx(directory, images, print);
      const imageMagick = await findImageMagick(directory, images, print);
      const peers = [pennant, ipx, imageMagick].filter((peer) => peer !== undefined);
      const shots = await compareAll(images, peers, print);
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

async function startPennant(directory: string, images: readonly BenchImage[]): Promise<Peer> {
  const service = await startPhotoService(join(directory, 'service'), images);
  // Stores the originals, because their download is not part of the encoding time.
  for (const image of images) await fetchGood(service.urlOf(image, 'mobile.jpg'));
  return {
    name: 'Pennant',
    make: (image, _crop, format) => fetchGood(service.urlOf(image, `desktop.${format === 'jpeg' ? 'jpg' : format}`)),
    stop: () => stopProcess(service),
  };
}

/** The programs take turns for each image, so that other work on the machine affects all of them equally. */
async function compareAll(
  [first, ...others]: readonly BenchImage[],
  peers: readonly Peer[],
  print: Print,
): Promise<Shot[]> {
  if (first === undefined) throw new Error('There is no image to encode');
  const shots: Shot[] = [];
  for (const format of FORMATS) {
    print(`  ${format}`);
    // Loads the code for a first image.
    for (const peer of peers) await peer.make(first, CROP, format);
    for (const image of others) {
      const reference = await cutPixels(image.bytes, CROP);
      for (const peer of peers) shots.push(await shoot(peer, image, format, reference));
    }
  }
  return shots;
}

async function shoot(peer: Peer, image: BenchImage, format: Format, reference: Pixels): Promise<Shot> {
  const startedMs = performance.now();
  const body = await peer.make(image, CROP, format);
  const ms = performance.now() - startedMs;
  const ssim = await likenessOf(body, reference);
  return { peer: peer.name, format, image: image.name, ms, bytes: body.length, ssim };
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
    what: `cold ${format} strip of ${shots.length} images: ${name}`,
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
