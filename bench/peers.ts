import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Format } from '../src/domain/formats.ts';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { type BenchImage, readBackgrounds, readSampleBanners } from './images.ts';
import { installPeers, startIpx } from './peer-servers.ts';
import { stopProcess } from './processes.ts';
import type { PartOptions, Print, Row } from './report.ts';
import { fetchGood, startPhotoService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const CROP = cropOf('desktop', REFERENCE_BANNER);
const FORMATS = ['avif', 'webp', 'jpeg'] as const;
const IMAGES_OF_EACH_KIND = { thorough: 4, quick: 2 };

/** A server that crops and encodes images with its default settings, without a cache. */
interface Peer {
  readonly name: string;
  make(image: BenchImage, format: Format): Promise<Buffer>;
  stop(): Promise<void>;
}

interface Shot {
  readonly peer: string;
  readonly format: Format;
  readonly image: string;
  readonly ms: number;
  readonly bytes: number;
}

/** A new desktop crop from a stored original, as a visitor waits for it, compared with unjs/ipx. */
export function bench(print: Print, { isQuick }: PartOptions): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const count = isQuick ? IMAGES_OF_EACH_KIND.quick : IMAGES_OF_EACH_KIND.thorough;
    const images = [...(await readBackgrounds()).slice(0, count), ...(await readSampleBanners()).slice(0, count)];
    const pennant = await startPennant(directory, images);
    try {
      const ipx = await startIpxPeer(directory, images);
      try {
        const shots = await compareAll(images, [pennant, ipx], print);
        const rows = FORMATS.flatMap((format) =>
          [pennant, ipx].map((peer) => shotRow(format, peer, shotsOf(shots, peer, format))),
        );
        return [...rows, speedUpRow(shots, pennant, ipx)];
      } finally {
        await ipx.stop();
      }
    } finally {
      await pennant.stop();
    }
  });
}

async function startPennant(directory: string, images: readonly BenchImage[]): Promise<Peer> {
  const service = await startPhotoService(join(directory, 'service'), images);
  // Stores the originals, because their download is not part of the encoding time.
  for (const image of images) await fetchGood(service.urlOf(image, 'mobile.jpg'));
  return {
    name: 'Pennant',
    make: (image, format) => fetchGood(service.urlOf(image, `desktop.${format === 'jpeg' ? 'jpg' : format}`)),
    stop: () => stopProcess(service),
  };
}

async function startIpxPeer(directory: string, images: readonly BenchImage[]): Promise<Peer> {
  const folder = join(directory, 'ipx');
  await mkdir(folder);
  for (const { name, bytes } of images) await writeFile(join(folder, `${name}.jpg`), bytes);
  await installPeers(folder, ['ipx']);
  const { base, stop } = await startIpx(folder);
  const { left, top, width, height } = CROP;
  return {
    name: 'IPX',
    make: ({ name }, format) => fetchGood(`${base}/f_${format},extract_${left}_${top}_${width}_${height}/${name}.jpg`),
    stop,
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
    for (const peer of peers) await peer.make(first, format);
    for (const image of others) {
      for (const peer of peers) shots.push(await shoot(peer, image, format));
    }
  }
  return shots;
}

async function shoot(peer: Peer, image: BenchImage, format: Format): Promise<Shot> {
  const startedMs = performance.now();
  const body = await peer.make(image, format);
  const ms = performance.now() - startedMs;
  return { peer: peer.name, format, image: image.name, ms, bytes: body.length };
}

function shotsOf(shots: readonly Shot[], { name }: Peer, format: Format): Shot[] {
  return shots.filter((shot) => shot.peer === name && shot.format === format);
}

function shotRow(format: Format, { name }: Peer, shots: readonly Shot[]): Row {
  const ms = summarize(shots.map((shot) => shot.ms));
  const kib = summarize(shots.map((shot) => shot.bytes / 1024));
  return {
    part: 'peers',
    what: `cold ${format} strip of ${shots.length} images: ${name}`,
    measured: `${formatSummary(ms, 0)} ms, ${formatSummary(kib, 0)} KiB`,
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
  };
}
