import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { createDiskImages } from '../src/image-store/disk-images.ts';
import { imagePaths, prepareSchema, prepareStatements, spaceOf } from '../src/image-store/schema.ts';
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

/** Rows of `images.db`, last used on the last days. */
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
    writeImages(imagePaths(dataDir).database, count);
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

/** In large transactions, without the store's thread. */
function writeImages(path: string, count: number): void {
  const db = new DatabaseSync(path);
  prepareSchema(db);
  db.exec('PRAGMA synchronous = OFF; BEGIN');
  const { add, addContent } = prepareStatements(db);
  const now = Date.now();
  for (let number = 0; number < count; number += 1) {
    const content = Buffer.alloc(LENGTHS[number % LENGTHS.length] as number, number % 251);
    const key = keyOf(number);
    const usedAtMs = now - spread(number, 7 * DAY_MS);
    const space = spaceOf(content.length, false);
    const checksum = crc32(content, crc32(key));
    const { lastInsertRowid } = add.run(key, channelIdOf(number), content.length, space, checksum, usedAtMs, null);
    addContent.run(lastInsertRowid, content);
    if (number % ROWS_PER_COMMIT === 0) db.exec('COMMIT; BEGIN');
  }
  // On the disk before the measurement: a machine that still writes gigabytes starts every process slowly.
  db.exec('COMMIT; PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
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
  const { size } = statSync(imagePaths(dataDir).database);
  const onEvent = () => undefined;
  // Smaller than what is stored.
  const images = createDiskImages({ dataDir, maxBytes: Math.floor(0.98 * size), clock: systemClock, onEvent });
  const write = (number: number) => images.set(`image2/UCnew/${number}/x`, Buffer.alloc(20_000, `${number}`));
  // The first one evicts all that is too much.
  await write(WRITES);
  const evictingWriteMs = await medianCpuMs(WRITES, write);
  const hitMs = await medianCpuMs(LOOK_UPS, (number) => images.get(keyOf(spread(number, count))));
  const missMs = await medianCpuMs(LOOK_UPS, (number) => images.get(`image2/UCnone/${number}/x`));
  const purgeTimes: number[] = [];
  const purgeCpuMs = await medianCpuMs(PURGES, async (number) => {
    const channelId = channelIdOf(spread(number, count));
    purgeTimes.push(await timeMs(() => images.erase([channelId])));
  });
  await images.close();
  return { hitMs, missMs, evictingWriteMs, purgeMs: summarize(purgeTimes).median, purgeCpuMs };
}
