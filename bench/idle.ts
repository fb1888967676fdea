import { spawn } from 'node:child_process';
import { TIME_LIMITS_MS } from '../src/domain/time-limits.ts';
import { childrenOf, residentBytes } from '../test/helpers/process.ts';
import { fetchGood } from './answer.ts';
import type { Print } from './parts.ts';
import { type PhotoService, startPhotoService } from './photo-service.ts';
import { type BenchPicture, readSampleBanners } from './pictures.ts';
import { cpuSeconds, stopProcess, waitForLine } from './processes.ts';
import type { Row } from './report.ts';
import { formatSummary, type Summary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const PICTURES = 200;
const AT_ONCE = 4;
const FORMATS = ['avif', 'webp', 'jpg'] as const;
const NARROWEST = 600;
/** Rounds of the first picture, a multiple of the number of formats. */
const ROUNDS = 9;
const MOST_AT_START_MIB = 85;
const MOST_LATER_MIB = 110;
const MOST_EXTRA_MS = 250;
const MIB = 2 ** 20;
/** The options that `npm start`, the container and the systemd unit pass to Node. */
const OPTIONS = { NODE_OPTIONS: '--max-semi-space-size=16' };
/** Memory still changes for some seconds after the last request. */
const SETTLING_MS = 10_000;
const BARE = `require('node:http').createServer((_, answer) => answer.end('ok'))
  .listen(0, '127.0.0.1', () => console.log('listening'))`;

/**
 * The memory of an idle service compared with a bare `node:http` server, and the cost of the first picture after that.
 * It takes three minutes, because encoders end after two idle minutes.
 */
export function benchIdle(print: Print): Promise<Row[]> {
  return inTemporaryDirectory((directory) => benchIn(directory, print));
}

async function benchIn(directory: string, print: Print): Promise<Row[]> {
  const bare = spawn(process.execPath, ['-e', BARE], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await waitForLine(bare, /listening/);
    const pictures = await readSampleBanners();
    const service = await startPhotoService(directory, pictures, OPTIONS);
    try {
      return await measure({ service, pictures, barePid: bare.pid as number, print });
    } finally {
      await stopProcess(service.child);
    }
  } finally {
    await stopProcess(bare);
  }
}

interface Measured {
  readonly service: PhotoService;
  readonly pictures: readonly BenchPicture[];
  readonly barePid: number;
  readonly print: Print;
}

async function measure({ service, pictures, barePid, print }: Measured): Promise<Row[]> {
  const extraBytes = async () => (await residentBytes(service.pid)) - (await residentBytes(barePid));
  const ask = (number: number) => millisecondsFor(urlOf(service, pictures, number));
  await pause(SETTLING_MS);
  const atStart = await extraBytes();
  print(`  at the first start: ${inMib(atStart)} above bare`);
  await askForAll(ask);
  print(`  after ${PICTURES} pictures: ${inMib(await extraBytes())}, ${await describeEncoders(service)}`);
  await pause(TIME_LIMITS_MS.encoderIdle + SETTLING_MS);
  const later = await extraBytes();
  const encoders = await childrenOf(service.pid);
  print(`  idle: ${inMib(later)}, ${await describeEncoders(service)}`);
  const firstPictures = await compareFirstPictures(service, ask);
  return [
    memoryRow('the server at its first start', atStart, MOST_AT_START_MIB),
    {
      ...memoryRow(`the server, idle after ${PICTURES} pictures`, later, MOST_LATER_MIB),
      isMet: later <= MOST_LATER_MIB * MIB && encoders.length === 0,
    },
    firstPictureRow(firstPictures),
  ];
}

async function askForAll(ask: (number: number) => Promise<number>): Promise<void> {
  let next = 0;
  async function work(): Promise<void> {
    while (next < PICTURES) {
      next += 1;
      await ask(next - 1);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

interface FirstPictures {
  readonly extraMs: Summary;
  /** CPU time of the server and the encoder together. */
  readonly extraCpuMs: Summary;
}

/** The cost of the first picture without an encoder process, minus that of the next one in the same format from another original. */
async function compareFirstPictures(
  service: PhotoService,
  ask: (number: number) => Promise<number>,
): Promise<FirstPictures> {
  const ms: number[] = [];
  const cpuMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // In the first round there is none because of the idle time. Later, an idle process is killed and not replaced.
    for (const pid of await childrenOf(service.pid)) process.kill(pid, 'SIGKILL');
    while ((await childrenOf(service.pid)).length > 0) await pause(10);
    const number = PICTURES + 2 * FORMATS.length * round + (round % FORMATS.length);
    const before = await cpuOf(service);
    const firstMs = await ask(number);
    const between = await cpuOf(service);
    const nextMs = await ask(number + FORMATS.length);
    const after = await cpuOf(service);
    ms.push(firstMs - nextMs);
    cpuMs.push((2 * between - before - after) * 1000);
  }
  return { extraMs: summarize(ms), extraCpuMs: summarize(cpuMs) };
}

async function cpuOf({ pid }: PhotoService): Promise<number> {
  const seconds = await Promise.all([pid, ...(await childrenOf(pid))].map(cpuSeconds));
  return seconds.reduce((sum, one) => sum + one, 0);
}

/** Every number is another picture. */
function urlOf(service: PhotoService, pictures: readonly BenchPicture[], number: number): string {
  const picture = pictures[number % pictures.length] as BenchPicture;
  return service.urlOf(picture, `tv.${FORMATS[number % FORMATS.length]}?width=${NARROWEST + number}`);
}

async function millisecondsFor(url: string): Promise<number> {
  const startedMs = performance.now();
  await fetchGood(url);
  return performance.now() - startedMs;
}

async function describeEncoders({ pid }: PhotoService): Promise<string> {
  const sizes = await Promise.all((await childrenOf(pid)).map(residentBytes));
  return `${sizes.length} encoders${sizes.length > 0 ? ` of ${sizes.map(inMib).join(' and ')}` : ''}`;
}

function memoryRow(what: string, bytes: number, mostMib: number): Row {
  return {
    part: 'idle',
    what: `${what}, above bare node:http`,
    measured: inMib(bytes),
    target: `at most ${mostMib} MiB`,
    isMet: bytes <= mostMib * MIB,
    figures: { bytes },
  };
}

function firstPictureRow({ extraMs, extraCpuMs }: FirstPictures): Row {
  return {
    part: 'idle',
    what: 'the first picture after that, compared with the next',
    measured: `${formatSummary(extraCpuMs, 0)} ms of CPU time more, ${formatSummary(extraMs, 0)} ms by the clock`,
    target: `at most ${MOST_EXTRA_MS} ms by the clock`,
    isMet: extraMs.median <= MOST_EXTRA_MS,
    figures: { extraMs, extraCpuMs },
  };
}

const inMib = (bytes: number) => `${(bytes / MIB).toFixed(0)} MiB`;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
