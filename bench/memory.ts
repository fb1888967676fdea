import { childrenOf, residentBytes } from '../test/helpers/process.ts';
import { fetchGood } from './answer.ts';
import { type PhotoService, startPhotoService } from './photo-service.ts';
import { type BenchPicture, readSampleBanners } from './pictures.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { countEncodes, readMetric } from './service-metrics.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const FIRST_ENCODES = 200;
const ALL_ENCODES = 2_000;
const READINGS = 5;
const ENCODES_BETWEEN_READINGS = 10;
const MOST_GROWTH = 1.2;
const AT_ONCE = 4;
const MIB = 2 ** 20;
/** So small that both are full after the first encodes. */
const CACHES = { IMAGE_CACHE_BYTES: '24MiB', MEMORY_CACHE_BYTES: '16MiB' };
const FORMATS = ['avif', 'webp', 'png'] as const;
const NARROWEST = 600;
const WIDTHS = 500;

interface MemoryFigures {
  readonly serverBytes: number;
  /** All processes together. */
  readonly encoderBytes: number;
  readonly encoderProcesses: number;
  readonly storedBytes: number;
}

/** Memory of the server and its encoders after many encodes compared with some, which shows a leak. */
export function benchMemory(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory((directory) => benchIn(directory, print));
}

async function benchIn(directory: string, print: (line: string) => void): Promise<Row[]> {
  const pictures = await readSampleBanners();
  const service = await startPhotoService(directory, pictures, CACHES);
  try {
    const early = await encodeAndMeasure(service, pictures, { from: 0, end: FIRST_ENCODES });
    print(`  after ${FIRST_ENCODES}: ${JSON.stringify(early)}`);
    const late = await encodeAndMeasure(service, pictures, { from: FIRST_ENCODES, end: ALL_ENCODES });
    print(`  after ${ALL_ENCODES}: ${JSON.stringify(late)}`);
    const encodes = await countEncodes(service.inside);
    if (encodes !== ALL_ENCODES) throw new Error(`${encodes} encodes were made instead of ${ALL_ENCODES}`);
    return [
      rowOf('server', early.serverBytes, late.serverBytes),
      rowOf(`${late.encoderProcesses} encoder processes`, early.encoderBytes, late.encoderBytes),
    ];
  } finally {
    await stopProcess(service.child);
  }
}

interface Span {
  readonly from: number;
  readonly end: number;
}

/** Allocators return memory in large steps, so the figures are medians over the last encodes. */
async function encodeAndMeasure(
  service: PhotoService,
  pictures: readonly BenchPicture[],
  { from, end }: Span,
): Promise<MemoryFigures> {
  const firstReading = end - READINGS * ENCODES_BETWEEN_READINGS;
  await encodeAll(service, pictures, { from, end: firstReading });
  const readings: MemoryFigures[] = [];
  for (let at = firstReading; at < end; at += ENCODES_BETWEEN_READINGS) {
    await encodeAll(service, pictures, { from: at, end: at + ENCODES_BETWEEN_READINGS });
    readings.push(await measure(service));
  }
  const medianOf = (name: keyof MemoryFigures) => summarize(readings.map((reading) => reading[name])).median;
  return {
    serverBytes: medianOf('serverBytes'),
    encoderBytes: medianOf('encoderBytes'),
    encoderProcesses: medianOf('encoderProcesses'),
    storedBytes: medianOf('storedBytes'),
  };
}

async function encodeAll(service: PhotoService, pictures: readonly BenchPicture[], { from, end }: Span): Promise<void> {
  let next = from;
  async function work(): Promise<void> {
    while (next < end) {
      const url = urlOf(service, pictures, next);
      next += 1;
      await fetchGood(url);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Distinct up to pictures × formats × widths, with the same average size at any time. */
function urlOf(service: PhotoService, pictures: readonly BenchPicture[], number: number): string {
  const picture = pictures[number % pictures.length] as BenchPicture;
  const width = NARROWEST + ((number * 181) % WIDTHS);
  return service.urlOf(picture, `tv.${FORMATS[number % FORMATS.length]}?width=${width}`);
}

async function measure({ pid, inside }: PhotoService): Promise<MemoryFigures> {
  const encoders = await childrenOf(pid);
  const sizes = await Promise.all(encoders.map(residentBytes));
  return {
    serverBytes: await residentBytes(pid),
    encoderBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    encoderProcesses: encoders.length,
    storedBytes: await readMetric(inside, 'pennant_picture_store_bytes{kind="custom"}'),
  };
}

function rowOf(what: string, earlyBytes: number, lateBytes: number): Row {
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
