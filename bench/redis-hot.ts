import { join } from 'node:path';
import { startRedisServer } from '../test/helpers/redis.ts';
import { findLoadGenerator } from './load.ts';
import type { Row } from './report.ts';
import { type Round, runRound } from './rounds.ts';
import { startService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const PATH = '/api/channel/UCPennantSample00000001A';
/** Each with new processes: two processes of the same program may differ by a fifth. */
const STARTS = 3;
const ROUNDS_PER_START = 7;
/** Short, so that other load on the machine meets both servers alike. */
const ROUND_SECONDS = 1;
/** The code with Redis is compiled later than the code without. */
const WARM_UP_ROUNDS = 8;
const MOST_RATIO = 1.25;
/** At a lower rate each request has a command of its own, so Redis costs more, while the server has time left. */
const PACES = [
  { pace: 'as fast as answers come', pauseMs: 0 },
  { pace: 'with pauses', pauseMs: 2 },
];

/** The maximum share of requests that are decided without Redis. More of them would make the figure meaningless. */
const MOST_DECIDED_ALONE = 0.001;

/** One after the other. */
interface Rounds {
  readonly alone: Round;
  readonly shared: Round;
}

interface Result {
  readonly pace: string;
  readonly rounds: Rounds[];
  decidedAlone: number;
}

/** The server's CPU time for a hot record with Redis, which decides the rate limit, compared with one without. */
export function benchRedisHot(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const redis = await startRedisServer();
    try {
      const results = PACES.map(({ pace }) => ({ pace, rounds: [] as Rounds[], decidedAlone: 0 }));
      for (let number = 1; number <= STARTS; number += 1) {
        print(`start ${number} of ${STARTS}`);
        await benchProcesses(directory, redis.url, results, print);
      }
      return results.map(rowOf);
    } finally {
      await redis.remove();
    }
  });
}

/** Adds the rounds of two new processes to the results. */
async function benchProcesses(
  directory: string,
  redisUrl: string,
  results: readonly Result[],
  print: (line: string) => void,
): Promise<void> {
  const load = await findLoadGenerator();
  const alone = await startService(join(directory, 'alone'));
  const shared = await startService(join(directory, 'shared'), { REDIS_URL: redisUrl });
  try {
    for (let number = 0; number < WARM_UP_ROUNDS; number += 1) {
      for (const service of [alone, shared]) await runRound(service, PATH, load, ROUND_SECONDS);
    }
    for (const [at, { pace, pauseMs }] of PACES.entries()) {
      const result = results[at] as Result;
      const decidedAloneBefore = await shared.countDecidedAlone();
      for (let number = 0; number < ROUNDS_PER_START; number += 1) {
        const round = {
          alone: await runRound(alone, PATH, load, ROUND_SECONDS, pauseMs),
          shared: await runRound(shared, PATH, load, ROUND_SECONDS, pauseMs),
        };
        result.rounds.push(round);
        const [shown, compared] = [round.shared, round.alone].map(formatRound);
        print(`  ${pace}: with Redis ${shown}, without ${compared}`);
      }
      result.decidedAlone += (await shared.countDecidedAlone()) - decidedAloneBefore;
    }
    for (const service of [alone, shared]) await service.assertAllGood();
  } finally {
    await alone.stop();
    await shared.stop();
  }
}

function formatRound({ cpuMicrosPerAnswer, answersPerSecond }: Round): string {
  return `${cpuMicrosPerAnswer.toFixed(1)} µs (${answersPerSecond.toFixed(0)}/s)`;
}

function rowOf({ pace, rounds, decidedAlone }: Result): Row {
  const answers = rounds.reduce((sum, { shared }) => sum + shared.answers, 0);
  if (decidedAlone > MOST_DECIDED_ALONE * answers) {
    throw new Error(`${decidedAlone} of ${answers} requests were decided without Redis: the rounds do not count.`);
  }
  const ratio = summarize(rounds.map(({ alone, shared }) => shared.cpuMicrosPerAnswer / alone.cpuMicrosPerAnswer));
  const medianOf = (name: keyof Rounds, figure: 'cpuMicrosPerAnswer' | 'answersPerSecond') =>
    summarize(rounds.map((round) => round[name][figure])).median;
  const costs = (['shared', 'alone'] as const).map((name) => medianOf(name, 'cpuMicrosPerAnswer').toFixed(1));
  const rates = (['shared', 'alone'] as const).map((name) => medianOf(name, 'answersPerSecond').toFixed(0));
  return {
    part: 'redis',
    what: `hot JSON ${pace}: CPU time of the server with Redis / without`,
    measured: `${costs.join(' / ')} µs an answer = ${formatSummary(ratio, 2)} at ${rates.join(' / ')} a second; ${decidedAlone} of ${answers} requests decided without Redis`,
    target: `at most ${MOST_RATIO}`,
    isMet: ratio.median <= MOST_RATIO,
    figures: { rounds },
  };
}
