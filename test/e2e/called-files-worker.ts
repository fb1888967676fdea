import { mkdtemp, rm } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { pino } from 'pino';
import { buildApp } from '../../src/app/build.ts';
import { parseConfig } from '../../src/config/settings.ts';
import { createManualClock } from '../helpers/clock.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';
import { sendInProcess } from '../helpers/in-process.ts';

/*
 * A worker that posts the files of src in which a function is called for a request whose value is in memory. It is a
 * separate thread, because a test runner rewrites the modules that it loads and adds functions to them.
 */

export interface CalledFiles {
  readonly url: string;
  readonly cacheStatus: string | undefined;
  /** Relative to src, in alphabetical order. */
  readonly files: readonly string[];
}

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const SAMPLE = 'UCPennantSample00000001A';
const URLS = [`/${SAMPLE}/tv`, `/api/channel/${SAMPLE}`];
/** Enough requests for the background to encode the picture again. Afterwards the picture no longer changes. */
const WARM_UP_REQUESTS = 8;
const TURNS = 20;
/** Longer than the micro-cache keeps a response. All waits together are longer than the delay of an optimized encoding. */
const AFTER_THE_MICRO_CACHE_MS = 61_000;

const dataDir = await mkdtemp(join(tmpdir(), 'pennant-called-files-'));
const config = parseConfig({ SOURCES: 'catalog', RATE_LIMIT: '1000/30', DATA_DIR: dataDir });
const clock = createManualClock();
const app = await buildApp(config, {
  logger: pino({ level: 'silent' }),
  version: '0.0.0-test',
  clock,
  encoder: createFakeEncoder(),
});
const session = new Session();
session.connect();
await session.post('Profiler.enable');

/** Waits until background work of earlier requests (the second encoding, files) adds no more files: two equal readings. */
async function calledFiles(url: string): Promise<CalledFiles> {
  for (let time = 0; time < WARM_UP_REQUESTS; time += 1) await sendWarm(url);
  let called = await readCalledFiles(url);
  for (;;) {
    await sendWarm(url);
    const again = await readCalledFiles(url);
    if (again.files.join() === called.files.join()) return again;
    called = again;
  }
}

async function sendWarm(url: string): Promise<void> {
  await sendInProcess(app.http, { url });
  clock.advance(AFTER_THE_MICRO_CACHE_MS);
  for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
}

async function readCalledFiles(url: string): Promise<CalledFiles> {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const response = await sendInProcess(app.http, { url });
  await nextTurn();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  const files = result
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .filter((script) => script.url.startsWith('file:'))
    .map((script) => fileURLToPath(script.url))
    .filter((path) => path.startsWith(SRC))
    .map((path) => path.slice(SRC.length))
    .sort();
  clock.advance(AFTER_THE_MICRO_CACHE_MS);
  return { url, cacheStatus: response.headers['cache-status'], files };
}

const called: CalledFiles[] = [];
for (const url of URLS) called.push(await calledFiles(url));
await app.close();
await rm(dataDir, { recursive: true });
parentPort?.postMessage(called);
if (parentPort === null) console.log(JSON.stringify(called, null, 1));
