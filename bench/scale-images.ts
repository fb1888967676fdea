import { closeSync, ftruncateSync, futimesSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { createDiskFileStore } from '../src/image-store/disk-files.ts';
import { digestOf, type FileName, imagesDirectory, relativePathOf } from '../src/image-store/file-names.ts';
import { systemClock } from '../src/lib/clock.ts';
import { residentBytes, startService } from '../test/helpers/process.ts';
import { stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { atMost, atMostMore, format, medianCpuMs, type Pair, scaleRow, spread } from './scale-report.ts';
import { fetchGood, readMetric, SAMPLE_CHANNEL } from './servers.ts';
import { summarize, timeMs } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const LOOK_UPS = 300;
const WRITES = 100;
const PURGES = 10;
const IMAGES_PER_CHANNEL = 10;
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;
/** More than all files of the bench need. */
const QUOTA = { maxBytes: 1e12, setting: '900GiB' };
const COUNTED = 'pennant_held_entries{holder="images on disk"}';
const COUNTING_MS = 600_000;
const BETWEEN_READINGS_MS = 1_000;
const MORE_MS = atMostMore(1, 'ms');
const PURGE_LIMIT = atMost(20, 'ms');

interface Figures {
  /** From the start of the process to its first response. */
  readonly startMs: number;
  /** When all files are counted. */
  readonly residentMib: number;
  readonly scanSeconds: number;
  readonly hitMs: number;
  readonly missMs: number;
  readonly evictingWriteMs: number;
  readonly purgeMs: number;
  readonly purgeCpuMs: number;
}

/** Sparse files with the store's names and directories, last used on the last days. */
export async function benchImagesAtScale(print: Print, sizes: Pair): Promise<Row[]> {
  const small = await measureDirectory(print, sizes.small);
  const large = await measureDirectory(print, sizes.large);
  const pair = (name: keyof Figures) => ({ small: small[name], large: large[name] });
  return [
    scaleRow('images: from the start to the first response', sizes, pair('startMs'), 'ms', atMost(500, 'ms')),
    scaleRow('images: memory of the server', sizes, pair('residentMib'), 'MiB', atMostMore(100, 'MiB')),
    // A look-up lists one directory. With more files it is slower, but it must stay short compared with an encode.
    scaleRow('images: one read from disk, CPU time', sizes, pair('hitMs'), 'ms', MORE_MS),
    scaleRow('images: a look-up of one that is not stored, CPU time', sizes, pair('missMs'), 'ms', MORE_MS),
    scaleRow('images: a write that evicts, CPU time', sizes, pair('evictingWriteMs'), 'ms', MORE_MS),
    scaleRow('images: all files counted in the background', sizes, pair('scanSeconds'), 's'),
    scaleRow('images: a channel purged', sizes, pair('purgeMs'), 'ms'),
    scaleRow('images: a channel purged, CPU time', sizes, pair('purgeCpuMs'), 'ms', PURGE_LIMIT),
  ];
}

function measureDirectory(print: Print, count: number): Promise<Figures> {
  return inTemporaryDirectory(async (directory) => {
    // The first start with a new directory also imports the sample catalog.
    await stopProcess(await startService({ directory }));
    print(`writing ${format(count)} stored images`);
    const images = imagesDirectory(join(directory, 'data'));
    writeFiles(images, count);
    print('starting a service on them');
    const service = await measureService(directory, count);
    print('reading and writing among them');
    return { ...service, ...(await measureStore(images, count)) };
  });
}

const LENGTHS = [3_000, 9_000, 30_000];
const CHECKSUMS = LENGTHS.map((bytes) => crc32(Buffer.alloc(bytes)));

function channelIdOf(number: number): string {
  return `UCscale${String(Math.floor(number / IMAGES_PER_CHANNEL)).padStart(17, '0')}`;
}

function keyOf(number: number): string {
  return `image2/${channelIdOf(number)}/0123456789abcdef/0,0,1,1/1x1/${number}.avif`;
}

function writeFiles(directory: string, count: number): void {
  const made = new Set<string>();
  const now = Date.now();
  for (let number = 0; number < count; number += 1) {
    const kind = number % LENGTHS.length;
    const name: FileName = {
      digest: digestOf(keyOf(number)),
      bytes: LENGTHS[kind] as number,
      checksum: CHECKSUMS[kind] as number,
      fileClass: 'plain',
      isOriginal: false,
    };
    const path = join(directory, relativePathOf(name));
    if (!made.has(dirname(path))) mkdirSync(dirname(path), { recursive: true });
    made.add(dirname(path));
    const file = openSync(path, 'wx');
    ftruncateSync(file, name.bytes);
    const usedAtSeconds = (now - spread(number, 7 * DAY_MS)) / 1000;
    futimesSync(file, usedAtSeconds, usedAtSeconds);
    closeSync(file);
  }
}

async function measureService(directory: string, count: number): Promise<Pick<Figures, 'startMs' | 'residentMib'>> {
  const startedMs = performance.now();
  const service = await startService({ directory, env: { IMAGE_CACHE_BYTES: QUOTA.setting } });
  try {
    await fetchGood(`${service.base}/api/channel/${SAMPLE_CHANNEL}`);
    const startMs = performance.now() - startedMs;
    while ((await readMetric(service, COUNTED)) < count) {
      if (performance.now() - startedMs > COUNTING_MS) throw new Error('The stored images were not counted in time.');
      await sleep(BETWEEN_READINGS_MS);
    }
    return { startMs, residentMib: (await residentBytes(service.pid)) / MIB };
  } finally {
    await stopProcess(service);
  }
}

async function measureStore(directory: string, count: number): Promise<Omit<Figures, 'startMs' | 'residentMib'>> {
  const scanned = Promise.withResolvers<void>();
  const startedMs = performance.now();
  const files = createDiskFileStore({
    directory,
    maxBytes: QUOTA.maxBytes,
    // The service's own output is above it.
    maxFiles: count,
    clock: systemClock,
    onEvent: (event) => event.kind === 'scanned' && scanned.resolve(),
  });
  await scanned.promise;
  const scanSeconds = (performance.now() - startedMs) / 1000;
  const evictingWriteMs = await medianCpuMs(WRITES, (number) =>
    files.set(`image2/UCnew/${number}/x`, Buffer.alloc(20_000, `${number}`), 'plain'),
  );
  const hitMs = await medianCpuMs(LOOK_UPS, (number) => files.get(keyOf(spread(number, count))));
  const missMs = await medianCpuMs(LOOK_UPS, (number) => files.get(`image2/UCnone/${number}/x`));
  const purgeTimes: number[] = [];
  const purgeCpuMs = await medianCpuMs(PURGES, async (number) => {
    const channelId = channelIdOf(spread(number, count));
    purgeTimes.push(await timeMs(() => files.erase([channelId])));
  });
  await files.close();
  return { scanSeconds, hitMs, missMs, evictingWriteMs, purgeMs: summarize(purgeTimes).median, purgeCpuMs };
}
