import { join } from 'node:path';
import type { RedisServer } from '../test/helpers/redis.ts';
import { createLoadGenerator, type Round } from './load.ts';
import { stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { assertAllGood, readMetric, SAMPLE_CHANNEL, startPinnedService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const PATH = `/api/channel/${SAMPLE_CHANNEL}`;
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
  { pace: 'as fast as responses come', pauseMs: 0 },
  { pace: 'with pauses', pauseMs: 2 },
];

/** The maximum share of requests that are decided without Redis. More of them would make the figure meaningless. */
const MOST_DECIDED_ALONE = 0.001;
const DECIDED_ALONE = 'pennant_limiter_decided_alone_total';

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
export function benchRedisHot({ url }: RedisServer, print: Print): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const results = PACES.map(({ pace }) => ({ pace, rounds: [] as Rounds[], decidedAlone: 0 }));
    for (let number = 1; number <= STARTS; number += 1) {
      print(`start ${number} of ${STARTS}`);
      await benchProcesses(directory, url, results, print);
    }
    return results.map(rowOf);
  });
}

/** Adds the rounds of two new processes to the results. */
async function benchProcesses(
  directory: string,
  redisUrl: string,
  results: readonly Result[],
  print: Print,
): Promise<void> {
  const load = createLoadGenerator();
  const alone = await startPinnedService(join(directory, 'alone'));
  const shared = await startPinnedService(join(directory, 'shared'), { REDIS_URL: redisUrl });
  try {
    for (let number = 0; number < WARM_UP_ROUNDS; number += 1) {
      for (const service of [alone, shared]) await load.run(service, PATH, ROUND_SECONDS);
    }
    for (const [at, { pace, pauseMs }] of PACES.entries()) {
      const result = results[at] as Result;
      const decidedAloneBefore = await readMetric(shared, DECIDED_ALONE);
      for (let number = 0; number < ROUNDS_PER_START; number += 1) {
        const round = {
          alone: await load.run(alone, PATH, ROUND_SECONDS, pauseMs),
          shared: await load.run(shared, PATH, ROUND_SECONDS, pauseMs),
        };
        result.rounds.push(round);
        print(`  ${pace}: ${JSON.stringify(round)}`);
      }
      result.decidedAlone += (await readMetric(shared, DECIDED_ALONE)) - decidedAloneBefore;
    }
    for (const service of [alone, shared]) await assertAllGood(service);
  } finally {
    await stopProcess(alone);
    await stopProcess(shared);
  }
}

function rowOf({ pace, rounds, decidedAlone }: Result): Row {
  const responses = rounds.reduce((sum, { shared }) => sum + shared.responses, 0);
  const ratio = summarize(rounds.map(({ alone, shared }) => shared.cpuMicrosPerResponse / alone.cpuMicrosPerResponse));
  const bothOf = (figure: 'cpuMicrosPerResponse' | 'responsesPerSecond', digits: number) =>
    (['shared', 'alone'] as const)
      .map((name) => summarize(rounds.map((round) => round[name][figure])).median.toFixed(digits))
      .join(' / ');
  return {
    part: 'redis',
    what: `hot JSON ${pace}: CPU time of the server with Redis / without`,
    measured: `${bothOf('cpuMicrosPerResponse', 1)} µs = ${formatSummary(ratio, 2)} at ${bothOf('responsesPerSecond', 0)} returns a second; ${decidedAlone} of ${responses} requests decided without Redis`,
    target: `at most ${MOST_RATIO}; ${MOST_DECIDED_ALONE * 100} % decided without Redis`,
    isMet: ratio.median <= MOST_RATIO && decidedAlone <= MOST_DECIDED_ALONE * responses,
    figures: { rounds },
  };
}
