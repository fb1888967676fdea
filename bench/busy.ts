import { numberedChannelId } from '../test/helpers/fake-source.ts';
import { startEncoding } from './encoding-load.ts';
import { findLoadGenerator } from './load.ts';
import { type PhotoService, startPhotoService } from './photo-service.ts';
import { type BenchPicture, readSampleBanners } from './pictures.ts';
import { stopProcess } from './processes.ts';
import type { Row } from './report.ts';
import { countEncodes, readMetric } from './service-metrics.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const ROUNDS = 5;
const ROUND_SECONDS = 4;
const MOST_EXTRA_MS = 5;
/** The limiter decides every request. Clients take turns, so that it refuses none. */
const SETTINGS = {
  TRUST_PROXY: '127.0.0.0/8',
  BASE_URL: 'https://pennant.example',
  RATE_LIMIT_OVERRIDES: '',
  ENCODERS: '2',
};

/** The load of other clients: a rate that leaves the cores to the encoders, or full load. */
const PACES = [
  { pace: 'at some 600 requests/s', pauseMs: 50 },
  { pace: 'as fast as answers come', pauseMs: 0 },
] as const;

interface Round {
  readonly idleP99Ms: number;
  readonly busyP99Ms: number;
  /** Pictures that were encoded during the busy half. */
  readonly encodes: number;
}

/**
 * The latency of other requests while pictures are encoded. Server and load generator run at normal priority, the
 * load generator on the second core only. Two encoders run on both cores at their lower priority.
 */
export function benchBusy(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory((directory) => benchIn(directory, print));
}

async function benchIn(directory: string, print: (line: string) => void): Promise<Row[]> {
  const pictures = await readSampleBanners();
  const service = await startPhotoService(directory, pictures, SETTINGS);
  try {
    const runLoad = await hotLoad(`${service.base}/api/channel/${numberedChannelId(0)}`);
    await runLoad(0);
    // The first encodes start the second encoder and decode every original for the first time, which is not compared.
    await runWhileEncoding(service, pictures, () => runLoad(0));
    const rows: Row[] = [];
    for (const { pace, pauseMs } of PACES) {
      const rounds: Round[] = [];
      for (let number = 0; number < ROUNDS; number += 1) {
        const idleP99Ms = await runLoad(pauseMs);
        const round = { idleP99Ms, ...(await runWhileEncoding(service, pictures, () => runLoad(pauseMs))) };
        rounds.push(round);
        print(`  ${pace}: ${JSON.stringify(round)}`);
      }
      rows.push(rowOf(pace, rounds));
    }
    return rows;
  } finally {
    await stopProcess(service.child);
  }
}

/** One round of requests for a record in memory, as its p99 in milliseconds. */
async function hotLoad(url: string): Promise<(pauseMs: number) => Promise<number>> {
  const load = await findLoadGenerator();
  return async (pauseMs) => (await load.run(url, ROUND_SECONDS, pauseMs)).p99Ms;
}

async function runWhileEncoding(
  service: PhotoService,
  pictures: readonly BenchPicture[],
  run: () => Promise<number>,
): Promise<{ busyP99Ms: number; encodes: number }> {
  const encoding = startEncoding(service, pictures);
  const encodesBefore = await countEncodes(service.inside);
  const busyP99Ms = await run();
  const encodes = (await countEncodes(service.inside)) - encodesBefore;
  const queued = await readMetric(service.inside, 'pennant_encoder_jobs{state="queued"}');
  await encoding.stop();
  if (queued === 0) throw new Error('No picture waited for an encoder: they were not saturated.');
  return { busyP99Ms, encodes };
}

function rowOf(pace: string, rounds: readonly Round[]): Row {
  const idle = summarize(rounds.map(({ idleP99Ms }) => idleP99Ms)).median;
  const busy = summarize(rounds.map(({ busyP99Ms }) => busyP99Ms)).median;
  const encodes = summarize(rounds.map((round) => round.encodes)).median;
  return {
    part: 'busy',
    what: `hot JSON ${pace}: p99 with two saturated encoders / idle`,
    measured: `${busy.toFixed(1)} ms / ${idle.toFixed(1)} ms, ${(encodes / ROUND_SECONDS).toFixed(1)} encodes/s meanwhile`,
    target: `at most ${MOST_EXTRA_MS} ms more`,
    isMet: busy - idle <= MOST_EXTRA_MS,
    figures: { rounds },
  };
}
