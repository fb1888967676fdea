import { setTimeout } from 'node:timers/promises';
import { ENCODER_IDLE_MS } from '../src/images/encoder/slot.ts';
import { childrenOf, residentBytes, startProcess } from '../test/helpers/process.ts';
import { type BenchImage, readSampleBanners } from './images.ts';
import { stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { fetchGood, type PhotoService, readMetric, startPhotoService } from './servers.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const FIRST_ENCODES = 200;
const ALL_ENCODES = 2_000;
const READINGS = 5;
const ENCODES_BETWEEN_READINGS = 10;
const MOST_GROWTH = 1.2;
const AT_ONCE = 4;
/** Both are so small that they are full after the first encodes. */
const CACHES = { IMAGE_CACHE_BYTES: '24MiB', MEMORY_CACHE_BYTES: '16MiB' };
const FORMATS = ['avif', 'webp', 'png'] as const;
const NARROWEST = 600;
const WIDTHS = 500;
const ENCODES = 'pennant_encoder_task_duration_seconds_count{task="encode"}';

const MOST_AT_START_MIB = 85;
const MOST_IDLE_MIB = 110;
/** The options that `npm start`, the container and the systemd unit pass to Node. */
const OPTIONS = { NODE_OPTIONS: '--max-semi-space-size=16' };
/** Memory still changes for some seconds after the last request. */
const SETTLING_MS = 10_000;
const BARE = `require('node:http').createServer((_, response) => response.end('ok'))
  .listen(0, '127.0.0.1', () => console.log('listening'))`;
const MIB = 2 ** 20;

/** Memory of the server and its encoders: while idle, and whether it grows with the number of encodes. */
export async function bench(print: Print): Promise<Row[]> {
  const images = await readSampleBanners();
  return [
    ...(await inTemporaryDirectory((directory) => idleRows(directory, images, print))),
    ...(await inTemporaryDirectory((directory) => growthRows(directory, images, print))),
  ];
}

/** An idle service compared with a bare `node:http` server. It waits until the encoders have ended, two minutes. */
async function idleRows(directory: string, images: readonly BenchImage[], print: Print): Promise<Row[]> {
  const bare = startProcess(process.execPath, ['-e', BARE]);
  await bare.printed(/listening/);
  const service = await startPhotoService(directory, images, OPTIONS);
  try {
    const bareBytes = await residentBytes(bare.child.pid as number);
    const extraMib = async () => ((await residentBytes(service.pid)) - bareBytes) / MIB;
    await setTimeout(SETTLING_MS);
    const atStart = await extraMib();
    await encodeAll(service, images, { from: 0, end: FIRST_ENCODES });
    print(`waiting until the encoders end, ${ENCODER_IDLE_MS / 1000} s`);
    await setTimeout(ENCODER_IDLE_MS + SETTLING_MS);
    const idle = await extraMib();
    const encoders = (await childrenOf(service.pid)).length;
    return [
      {
        part: 'memory',
        what: 'the server at its first start, above bare node:http',
        measured: `${atStart.toFixed(0)} MiB`,
        target: `at most ${MOST_AT_START_MIB} MiB`,
        isMet: atStart <= MOST_AT_START_MIB,
      },
      {
        part: 'memory',
        what: `the server, idle after ${FIRST_ENCODES} images, above bare node:http`,
        measured: `${idle.toFixed(0)} MiB, ${encoders} encoders left`,
        target: `at most ${MOST_IDLE_MIB} MiB, none left`,
        isMet: idle <= MOST_IDLE_MIB && encoders === 0,
      },
    ];
  } finally {
    await stopProcess(service);
    await stopProcess(bare);
  }
}

interface Reading {
  readonly serverBytes: number;
  /** All processes together. */
  readonly encoderBytes: number;
  readonly encoderProcesses: number;
}

/** Memory after many encodes compared with some, which shows a leak. */
async function growthRows(directory: string, images: readonly BenchImage[], print: Print): Promise<Row[]> {
  const service = await startPhotoService(directory, images, CACHES);
  try {
    const early = await encodeAndMeasure(service, images, { from: 0, end: FIRST_ENCODES });
    print(`after ${FIRST_ENCODES}: ${JSON.stringify(early)}`);
    const late = await encodeAndMeasure(service, images, { from: FIRST_ENCODES, end: ALL_ENCODES });
    print(`after ${ALL_ENCODES}: ${JSON.stringify(late)}`);
    const encodes = await readMetric(service, ENCODES);
    if (encodes !== ALL_ENCODES) throw new Error(`${encodes} encodes were made instead of ${ALL_ENCODES}`);
    return [
      growthRow('server', early.serverBytes, late.serverBytes),
      growthRow(`${late.encoderProcesses} encoder processes`, early.encoderBytes, late.encoderBytes),
    ];
  } finally {
    await stopProcess(service);
  }
}

interface Span {
  readonly from: number;
  readonly end: number;
}

/** Allocators return memory in large steps, so the figures are medians over the last encodes. */
async function encodeAndMeasure(
  service: PhotoService,
  images: readonly BenchImage[],
  { from, end }: Span,
): Promise<Reading> {
  const firstReading = end - READINGS * ENCODES_BETWEEN_READINGS;
  await encodeAll(service, images, { from, end: firstReading });
  const readings: Reading[] = [];
  for (let at = firstReading; at < end; at += ENCODES_BETWEEN_READINGS) {
    await encodeAll(service, images, { from: at, end: at + ENCODES_BETWEEN_READINGS });
    readings.push(await measure(service));
  }
  const medianOf = (name: keyof Reading) => summarize(readings.map((reading) => reading[name])).median;
  return {
    serverBytes: medianOf('serverBytes'),
    encoderBytes: medianOf('encoderBytes'),
    encoderProcesses: medianOf('encoderProcesses'),
  };
}

async function encodeAll(service: PhotoService, images: readonly BenchImage[], { from, end }: Span): Promise<void> {
  let next = from;
  async function work(): Promise<void> {
    while (next < end) {
      const url = urlOf(service, images, next);
      next += 1;
      await fetchGood(url);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Distinct up to images × formats × widths, with the same average size at any time. */
function urlOf(service: PhotoService, images: readonly BenchImage[], number: number): string {
  const image = images[number % images.length] as BenchImage;
  const width = NARROWEST + ((number * 181) % WIDTHS);
  return service.urlOf(image, `tv.${FORMATS[number % FORMATS.length]}?width=${width}`);
}

async function measure({ pid }: PhotoService): Promise<Reading> {
  const encoders = await childrenOf(pid);
  const sizes = await Promise.all(encoders.map(residentBytes));
  return {
    serverBytes: await residentBytes(pid),
    encoderBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    encoderProcesses: encoders.length,
  };
}

function growthRow(what: string, earlyBytes: number, lateBytes: number): Row {
  const growth = lateBytes / earlyBytes;
  const mib = (bytes: number) => (bytes / MIB).toFixed(0);
  return {
    part: 'memory',
    what: `${what}: after ${ALL_ENCODES} encodes / after ${FIRST_ENCODES}, caches full`,
    measured: `${mib(lateBytes)} MiB / ${mib(earlyBytes)} MiB = ${growth.toFixed(2)}`,
    target: `at most ${MOST_GROWTH}`,
    isMet: growth <= MOST_GROWTH,
    figures: { earlyBytes, lateBytes },
  };
}
