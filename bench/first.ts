import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { cropOf, REFERENCE_BANNER } from '../src/domain/variants.ts';
import { encoderOptions } from '../src/images/encoder/job.ts';
import { answerStatus } from '../test/helpers/fake-upstream.ts';
import { startService } from '../test/helpers/process.ts';
import { startReplayServer, youtubeSettings } from '../test/helpers/replay-server.ts';
import type { Print } from './parts.ts';
import { readSampleBanners } from './pictures.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

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

interface Round {
  readonly firstByteMs: number;
  readonly encodeMs: number;
}

/** The first picture of a channel with an upstream 100 ms away, compared with the sum of its steps. */
export async function benchFirst(print: Print): Promise<Row[]> {
  const [picture] = await readSampleBanners();
  if (picture === undefined) throw new Error('There is no picture.');
  const { bytes } = picture;
  const distant = await startReplayServer({
    image: answerStatus(200, { 'content-type': 'image/jpeg' }, bytes),
    mayAnswer: () => pause(ROUND_TRIP_MS),
  });
  sharp.concurrency(1);
  sharp.cache(false);
  try {
    const rows: Row[] = [];
    for (const { by, path, roundTrips } of ASKED) {
      const rounds: Round[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const firstByteMs = await firstByteOf(distant.origin, path);
        rounds.push({ firstByteMs, encodeMs: await encodeBare(bytes) });
        print(`  by ${by}: ${JSON.stringify(rounds.at(-1))}`);
      }
      rows.push(rowOf(by, roundTrips, rounds));
    }
    return rows;
  } finally {
    await distant.close();
  }
}

/** A new service each time, because its second response would come from the cache. */
function firstByteOf(origin: string, path: string): Promise<number> {
  return inTemporaryDirectory(async (directory) => {
    const env = { ...youtubeSettings(origin), LOG_LEVEL: 'warn' };
    const service = await startService({ directory, env });
    try {
      await pictureAt(`${service.base}${WARMING}`);
      return await pictureAt(`${service.base}${path}`);
    } finally {
      await stopProcess(service.child);
    }
  });
}

/** @returns milliseconds until the first byte */
async function pictureAt(channelUrl: string): Promise<number> {
  const url = `${channelUrl}/desktop.avif`;
  const startedMs = performance.now();
  const response = await fetch(url);
  const ms = performance.now() - startedMs;
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${body}`);
  return ms;
}

/** Decoding, cropping and encoding with the library only. */
async function encodeBare(bytes: Buffer): Promise<number> {
  const startedMs = performance.now();
  const shown = sharp(bytes).autoOrient().extract(CROP);
  await shown.toFormat('avif', encoderOptions('avif', 'fast', undefined)).toBuffer();
  return performance.now() - startedMs;
}

function rowOf(by: string, roundTrips: number, rounds: readonly Round[]): Row {
  const first = summarize(rounds.map(({ firstByteMs }) => firstByteMs));
  const encode = summarize(rounds.map(({ encodeMs }) => encodeMs));
  const sumMs = roundTrips * ROUND_TRIP_MS + encode.median;
  return {
    part: 'first',
    what: `first picture by ${by}, upstream ${ROUND_TRIP_MS} ms away, to its first byte`,
    measured: `${formatSummary(first, 0)} ms; a bare encode takes ${encode.median.toFixed(0)} ms`,
    target: `at most ${roundTrips} round trips + encode + ${MOST_EXTRA_MS} ms = ${(sumMs + MOST_EXTRA_MS).toFixed(0)} ms`,
    isMet: first.median <= sumMs + MOST_EXTRA_MS,
    figures: { rounds },
  };
}
