import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { respondWithStatus } from '../test/helpers/fake-upstream.ts';
import { startService } from '../test/helpers/process.ts';
import { startReplayServer, youtubeSettings } from '../test/helpers/replay-server.ts';
import { encodeBare, readSampleBanners } from './images.ts';
import { stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { fetchGood, SAMPLE_CHANNEL } from './servers.ts';
import { formatSummary, summarize, timeMs } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const STARTS = 5;
const STORED = { record: `/api/channel/${SAMPLE_CHANNEL}`, image: `/${SAMPLE_CHANNEL}/desktop.avif` };

const ROUNDS = 7;
const ROUND_TRIP_MS = 100;
const MOST_EXTRA_MS = 40;
/** Requested first: then connections, code and encoder are warm, but nothing is stored about the other channel. */
const WARMING = '/UCreplayHarbour000000002';
const ASKED = [
  { by: 'ID', path: '/UCreplayLighthouse000001', roundTrips: 3 },
  { by: 'handle', path: '/@bellrocklight', roundTrips: 4 },
] as const;
const CROP = cropOf('desktop', REFERENCE_BANNER);

/** What the first client waits for: the start of the service, and the first image of a channel. */
export async function bench(print: Print): Promise<Row[]> {
  return [...(await inTemporaryDirectory(startRows)), ...(await firstImageRows(print))];
}

/** The time from the start of the process to the first response, with a directory that an earlier process has filled. */
async function startRows(directory: string): Promise<Row[]> {
  for (const path of Object.values(STORED)) await startAndFetch(directory, path);
  const rows: Row[] = [];
  for (const [what, path] of Object.entries(STORED)) {
    const times: number[] = [];
    for (let number = 0; number < STARTS; number += 1) times.push(await startAndFetch(directory, path));
    const summary = summarize(times);
    rows.push({
      part: 'first',
      what: `from the start to the first response, a stored ${what}`,
      measured: `${formatSummary(summary, 0)} ms`,
      figures: { times },
    });
  }
  return rows;
}

/** @returns milliseconds */
async function startAndFetch(directory: string, path: string): Promise<number> {
  const startedMs = performance.now();
  const service = await startService({ directory });
  try {
    await fetchGood(service.base + path);
    return performance.now() - startedMs;
  } finally {
    await stopProcess(service);
  }
}

interface Round {
  readonly imageMs: number;
  readonly encodeMs: number;
}

/** The first image of a channel with an upstream 100 ms away, compared with the sum of its steps. */
async function firstImageRows(print: Print): Promise<Row[]> {
  const [image] = await readSampleBanners();
  if (image === undefined) throw new Error('There is no image.');
  const { bytes } = image;
  const distant = await startReplayServer({
    image: respondWithStatus(200, { 'content-type': 'image/jpeg' }, bytes),
    mayRespond: () => pause(ROUND_TRIP_MS),
  });
  sharp.concurrency(1);
  sharp.cache(false);
  try {
    const rows: Row[] = [];
    for (const { by, path, roundTrips } of ASKED) {
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const imageMs = await timeFirstImage(distant.origin, path);
        rounds.push({ imageMs, encodeMs: await timeMs(() => encodeBare(bytes, CROP, 'avif')) });
        print(`  by ${by}: ${JSON.stringify(rounds.at(-1))}`);
      }
      rows.push(rowOf(by, roundTrips, rounds));
    }
    return rows;
  } finally {
    await distant.close();
  }
}

/** A new service each time, because its second response would come from the cache. @returns milliseconds */
function timeFirstImage(origin: string, path: string): Promise<number> {
  return inTemporaryDirectory(async (directory) => {
    const env = { ...youtubeSettings(origin), LOG_LEVEL: 'warn' };
    const service = await startService({ directory, env });
    try {
      await fetchGood(`${service.base}${WARMING}/desktop.avif`);
      return await timeMs(() => fetchGood(`${service.base}${path}/desktop.avif`));
    } finally {
      await stopProcess(service);
    }
  });
}

function rowOf(by: string, roundTrips: number, rounds: readonly Round[]): Row {
  const first = summarize(rounds.map(({ imageMs }) => imageMs));
  const encode = summarize(rounds.map(({ encodeMs }) => encodeMs));
  const sumMs = roundTrips * ROUND_TRIP_MS + encode.median;
  return {
    part: 'first',
    what: `first image by ${by}, upstream ${ROUND_TRIP_MS} ms away`,
    measured: `${formatSummary(first, 0)} ms; a bare encode takes ${encode.median.toFixed(0)} ms`,
    target: `at most ${roundTrips} round trips + encode + ${MOST_EXTRA_MS} ms = ${(sumMs + MOST_EXTRA_MS).toFixed(0)} ms`,
    isMet: first.median <= sumMs + MOST_EXTRA_MS,
    figures: { rounds },
  };
}
