import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { pino } from 'pino';
import { cachePaths, createCacheFile } from '../src/cache/cache-file.ts';
import { createImageTable } from '../src/cache/image-table.ts';
import { CACHE_SCHEMA } from '../src/cache/schema.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createRuntime } from '../src/lib/runtime.ts';
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
/** More than all images of the bench need. */
const QUOTA = '900GiB';
const ROWS_PER_COMMIT = 1_000;
const COUNTED = 'pennant_images_on_disk_entries';
const MORE_MS = atMostMore(1, 'ms');
const PURGE_LIMIT = atMost(20, 'ms');

interface Figures {
  /** From the start of the process to its first response. */
  readonly startMs: number;
  readonly residentMib: number;
  readonly hitMs: number;
  readonly missMs: number;
  readonly evictingWriteMs: number;
  readonly purgeMs: number;
  readonly purgeCpuMs: number;
}

/** Stored images, last used on the last days. */
export async function benchImagesAtScale(print: Print, sizes: Pair): Promise<Row[]> {
  const small = await measureDirectory(print, sizes.small);
  const large = await measureDirectory(print, sizes.large);
  const pair = (name: keyof Figures) => ({ small: small[name], large: large[name] });
  return [
    scaleRow('images: from the start to the first response', sizes, pair('startMs'), 'ms', atMost(500, 'ms')),
    scaleRow('images: memory of the server', sizes, pair('residentMib'), 'MiB', atMostMore(100, 'MiB')),
    scaleRow('images: one read from disk, CPU time', sizes, pair('hitMs'), 'ms', MORE_MS),
    scaleRow('images: a look-up of one that is not stored, CPU time', sizes, pair('missMs'), 'ms', MORE_MS),
    scaleRow('images: a write that evicts, CPU time', sizes, pair('evictingWriteMs'), 'ms', MORE_MS),
    scaleRow('images: a channel purged', sizes, pair('purgeMs'), 'ms'),
    scaleRow('images: a channel purged, CPU time', sizes, pair('purgeCpuMs'), 'ms', PURGE_LIMIT),
  ];
}

function measureDirectory(print: Print, count: number): Promise<Figures> {
  return inTemporaryDirectory(async (directory) => {
    // The first start with a new directory also imports the sample catalog.
    await stopProcess(await startService({ directory }));
    print(`writing ${format(count)} stored images`);
    const dataDir = join(directory, 'data');
    writeImages(dataDir, count);
    print('starting a service on them');
    const service = await measureService(directory, count);
    print('reading and writing among them');
    return { ...service, ...(await measureStore(dataDir, count)) };
  });
}

const LENGTHS = [3_000, 9_000, 30_000];

function channelIdOf(number: number): string {
  return `UCscale${String(Math.floor(number / IMAGES_PER_CHANNEL)).padStart(17, '0')}`;
}

function keyOf(number: number): string {
  return `image2/${channelIdOf(number)}/0123456789abcdef/0,0,1,1/1x1/${number}.avif`;
}

function openFile(dataDir: string) {
  const runtime = createRuntime({ clock: systemClock, logger: pino() });
  const { database, originals } = cachePaths(dataDir);
  const file = createCacheFile({ path: database, schema: CACHE_SCHEMA, runtime });
  return { file, runtime, folder: originals };
}

/** In large transactions. */
function writeImages(dataDir: string, count: number): void {
  const { file } = openFile(dataDir);
  const now = Date.now();
  for (let first = 0; first < count; first += ROWS_PER_COMMIT) {
    file.writeOrThrow((sql) => {
      for (let number = first; number < Math.min(count, first + ROWS_PER_COMMIT); number += 1) {
        const content = Buffer.alloc(LENGTHS[number % LENGTHS.length] as number, number % 251);
        const key = keyOf(number);
        const { lastInsertRowid } = sql(`
          INSERT INTO images (key, channel, is_original, size, checksum, used_at_ms) VALUES (?, ?, 0, ?, ?, ?)
        `).run(key, channelIdOf(number), content.length, crc32(content, crc32(key)), now - spread(number, 7 * DAY_MS));
        sql('INSERT INTO contents VALUES (?, ?)').run(lastInsertRowid, content);
      }
    });
  }
  file.emptyLog();
  file.close();
  // On the disk before the measurement: a machine that still writes gigabytes starts every process slowly.
  execFileSync('sync');
}

async function measureService(directory: string, count: number): Promise<Pick<Figures, 'startMs' | 'residentMib'>> {
  const startedMs = performance.now();
  const service = await startService({ directory, env: { IMAGE_CACHE_BYTES: QUOTA } });
  try {
    await fetchGood(`${service.base}/api/channel/${SAMPLE_CHANNEL}`);
    const startMs = performance.now() - startedMs;
    if ((await readMetric(service, COUNTED)) < count) throw new Error('The stored images are not counted.');
    return { startMs, residentMib: (await residentBytes(service.pid)) / MIB };
  } finally {
    await stopProcess(service);
  }
}

async function measureStore(dataDir: string, count: number): Promise<Omit<Figures, 'startMs' | 'residentMib'>> {
  const { file, runtime, folder } = openFile(dataDir);
  const stored = createImageTable({ file, folder, maxBytes: 2 ** 40, runtime }).usage();
  // Smaller than what is stored. To open it evicts all that is too much.
  const images = createImageTable({ file, folder, maxBytes: Math.floor(0.98 * stored.bytes), runtime });
  await images.open();
  const write = async (number: number) =>
    images.put('UCnew', `image2/UCnew/${number}/x`, Buffer.alloc(20_000, `${number}`));
  const evictingWriteMs = await medianCpuMs(WRITES, write);
  const hitMs = await medianCpuMs(LOOK_UPS, async (number) => images.get(keyOf(spread(number, count))));
  const missMs = await medianCpuMs(LOOK_UPS, async (number) => images.get(`image2/UCnone/${number}/x`));
  const purgeTimes: number[] = [];
  const purgeCpuMs = await medianCpuMs(PURGES, async (number) => {
    const channelId = channelIdOf(spread(number, count));
    purgeTimes.push(await timeMs(() => images.erase([channelId])));
  });
  file.close();
  return { hitMs, missMs, evictingWriteMs, purgeMs: summarize(purgeTimes).median, purgeCpuMs };
}
