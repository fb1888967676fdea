import { closeSync, ftruncateSync, futimesSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { systemClock } from '../src/lib/clock.ts';
import { createDiskFileStore } from '../src/picture-store/disk-files.ts';
import { digestOf, type FileName, picturesDirectory, relativePathOf } from '../src/picture-store/file-names.ts';
import { changeOfChannels } from '../src/store/changes.ts';
import { residentBytes, type ServiceProcess, startService } from '../test/helpers/process.ts';
import { fetchGood } from './answer.ts';
import type { Print } from './parts.ts';
import { cpuSeconds, stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { format, medianCpuMs, type Sizes, spread } from './scale-report.ts';
import { readMetric } from './service-metrics.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const LOOK_UPS = 300;
const WRITES = 100;
const COLD_PICTURES = 60;
const COLD_PAUSE_MS = 1_000;
const PICTURES_PER_CHANNEL = 10;
const DAY_MS = 86_400_000;
const MIB = 1024 * 1024;
const TARGETS = { startMs: 500, coldRatio: 1.5, memoryMib: 100, lookUpMs: 1 };
/** More than all files of the bench need. */
const QUOTA = { maxBytes: 1e12, setting: '900GiB' };
const RECORD = '/api/channel/UCPennantSample00000001A';

interface StoreFigures {
  readonly scanMs: number;
  readonly hitMs: number;
  readonly missMs: number;
  readonly evictingWriteMs: number;
  readonly eraseMs: number;
}

interface ServiceFigures {
  readonly startMs: number;
  readonly startCpuSeconds: number;
  readonly firstColdMs: number;
  readonly laterColdMs: number;
  readonly residentBytes: number;
  readonly countedFiles: number;
}

/** Sparse files with the store's names and directories, last used on the last days. */
export async function benchPicturesAtScale(print: Print, sizes: Sizes): Promise<Row[]> {
  const small = await measureDirectory(print, sizes.small);
  const large = await measureDirectory(print, sizes.large);
  const pair = (name: keyof StoreFigures) => ({ small: small.store[name], large: large.store[name] });
  const startedMs = large.service.startMs;
  const coldRatio = large.service.firstColdMs / large.service.laterColdMs;
  const moreMib = (large.service.residentBytes - small.service.residentBytes) / MIB;
  return [
    {
      part: 'scale',
      what: `from the start to the first response, ${format(sizes.large)} stored pictures`,
      measured: `${startOf(large.service)}; with ${format(sizes.small)} ${startOf(small.service)}`,
      target: `at most ${TARGETS.startMs} ms`,
      isMet: startedMs <= TARGETS.startMs,
      figures: { small, large },
    },
    {
      part: 'scale',
      what: `a cold picture in the first minute / later, ${format(sizes.large)} stored pictures`,
      measured: `${large.service.firstColdMs.toFixed(0)} / ${large.service.laterColdMs.toFixed(0)} ms = ${coldRatio.toFixed(2)}`,
      target: `at most ${TARGETS.coldRatio}`,
      isMet: coldRatio <= TARGETS.coldRatio,
    },
    {
      part: 'scale',
      what: `memory after two minutes, ${format(sizes.large)} stored pictures / ${format(sizes.small)}`,
      measured: `${(large.service.residentBytes / MIB).toFixed(0)} / ${(small.service.residentBytes / MIB).toFixed(0)} MiB`,
      target: `at most ${TARGETS.memoryMib} MiB more`,
      isMet: moreMib <= TARGETS.memoryMib,
    },
    smallRow('a stored picture read from disk', sizes, pair('hitMs')),
    smallRow('a look-up of a picture that is not stored', sizes, pair('missMs')),
    smallRow('a write that evicts', sizes, pair('evictingWriteMs')),
    infoRow(`all files counted in the background`, sizes, pair('scanMs')),
    infoRow('all files of a channel removed, CPU time', sizes, pair('eraseMs')),
  ];
}

function startOf({ startMs, startCpuSeconds }: ServiceFigures): string {
  return `${startMs.toFixed(0)} ms (${startCpuSeconds.toFixed(2)} s of CPU time)`;
}

/** A lookup lists one directory. With more files it is slower, but it must stay short compared with an encode. */
function smallRow(what: string, sizes: Sizes, { small, large }: { small: number; large: number }): Row {
  return {
    part: 'scale',
    what: `${what}, CPU time, ${format(sizes.large)} / ${format(sizes.small)}`,
    measured: `${large.toFixed(2)} / ${small.toFixed(2)} ms`,
    target: `at most ${TARGETS.lookUpMs} ms more`,
    isMet: large - small <= TARGETS.lookUpMs,
  };
}

function infoRow(what: string, sizes: Sizes, { small, large }: { small: number; large: number }): Row {
  return {
    part: 'scale',
    what: `${what}, ${format(sizes.large)} / ${format(sizes.small)}`,
    measured: `${(large / 1000).toFixed(2)} / ${(small / 1000).toFixed(2)} s`,
  };
}

function measureDirectory(print: Print, count: number): Promise<{ store: StoreFigures; service: ServiceFigures }> {
  return inTemporaryDirectory(async (directory) => {
    // The first start with a new directory also imports the sample catalog.
    await stopProcess((await startService({ directory })).child);
    print(`writing ${format(count)} stored pictures`);
    const pictures = picturesDirectory(join(directory, 'data'));
    writeFiles(pictures, count);
    print('starting a service on them');
    const service = await measureService(directory);
    print(`reading and writing among them (${service.countedFiles} were counted)`);
    return { service, store: await measureStore(pictures, count) };
  });
}

const LENGTHS = [3_000, 9_000, 30_000];
const CHECKSUMS = LENGTHS.map((bytes) => crc32(Buffer.alloc(bytes)));

function channelIdOf(number: number): string {
  return `UCscale${String(Math.floor(number / PICTURES_PER_CHANNEL)).padStart(17, '0')}`;
}

function keyOf(number: number): string {
  return `picture2/${channelIdOf(number)}/0123456789abcdef/0,0,1,1/1x1/${number}.avif`;
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

async function measureService(directory: string): Promise<ServiceFigures> {
  const startedMs = performance.now();
  const service = await startService({ directory, env: { IMAGE_CACHE_BYTES: QUOTA.setting } });
  try {
    await fetchGood(service.base + RECORD);
    const startMs = performance.now() - startedMs;
    const startCpuSeconds = await cpuSeconds(service.pid);
    const first = await coldPictures(service, 0);
    const later = await coldPictures(service, COLD_PICTURES);
    return {
      startMs,
      startCpuSeconds,
      firstColdMs: summarize(first).median,
      laterColdMs: summarize(later).median,
      residentBytes: await residentBytes(service.pid),
      countedFiles: await readMetric(service.inside, 'pennant_held_entries{holder="pictures on disk"}'),
    };
  } finally {
    await stopProcess(service.child);
  }
}

async function coldPictures({ base }: ServiceProcess, from: number): Promise<number[]> {
  const times: number[] = [];
  for (let number = from; number < from + COLD_PICTURES; number += 1) {
    const startedMs = performance.now();
    await fetchGood(`${base}/UCPennantSample00000001A/desktop.webp?width=${300 + number}`);
    times.push(performance.now() - startedMs);
    await sleep(COLD_PAUSE_MS);
  }
  return times;
}

async function measureStore(directory: string, count: number): Promise<StoreFigures> {
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
  const scanMs = performance.now() - startedMs;
  const evictingWriteMs = await medianCpuMs(WRITES, (number) =>
    files.set(`picture2/UCnew/${number}/x`, Buffer.alloc(20_000, `${number}`), 'plain'),
  );
  const hitMs = await medianCpuMs(LOOK_UPS, (number) => files.get(keyOf(spread(number, count))));
  const missMs = await medianCpuMs(LOOK_UPS, (number) => files.get(`picture2/UCnone/${number}/x`));
  const [eraseMs = 0] = [
    await medianCpuMs(1, () => files.erase(changeOfChannels(new Set([channelIdOf(spread(1, count))])))),
  ];
  await files.close();
  return { scanMs, hitMs, missMs, evictingWriteMs, eraseMs };
}
