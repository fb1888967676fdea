import { join } from 'node:path';
import { startRedisServer } from '../test/helpers/redis.ts';
import { findLoadGenerator } from './load.ts';
import type { Row } from './report.ts';
import { type Round, runRound } from './rounds.ts';
import { startService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const PATH = '/api/channel/UCPennantSample00000001A';
const ROUNDS = 9;
const ROUND_SECONDS = 2;
const MOST_RATIO = 1.25;

/** The maximum share of requests that are decided without Redis. More of them would make the figure meaningless. */
const MOST_DECIDED_ALONE = 0.001;

/** One after the other. */
interface Rounds {
  readonly alone: Round;
  readonly shared: Round;
}

/** The server's CPU time for a hot record with Redis, which decides the rate limit, compared with one without. */
export function benchRedisHot(print: (line: string) => void): Promise<Row[]> {
  return inTemporaryDirectory(async (directory) => {
    const redis = await startRedisServer();
    const load = await findLoadGenerator();
    const alone = await startService(join(directory, 'alone'));
    const shared = await startService(join(directory, 'shared'), { REDIS_URL: redis.url });
    try {
      const rounds: Rounds[] = [];
      for (const service of [alone, shared]) await runRound(service, PATH, load, ROUND_SECONDS);
      const decidedAloneBefore = await shared.countDecidedAlone();
      for (let number = 0; number < ROUNDS; number += 1) {
        const round = {
          alone: await runRound(alone, PATH, load, ROUND_SECONDS),
          shared: await runRound(shared, PATH, load, ROUND_SECONDS),
        };
        rounds.push(round);
        const [shown, compared] = [round.shared, round.alone].map((each) => each.cpuMicrosPerAnswer.toFixed(1));
        print(`  with Redis ${shown} µs, without ${compared} µs`);
      }
      const decidedAlone = (await shared.countDecidedAlone()) - decidedAloneBefore;
      for (const service of [alone, shared]) await service.assertAllGood();
      return [rowOf(rounds, decidedAlone)];
    } finally {
      await alone.stop();
      await shared.stop();
      await redis.remove();
    }
  });
}

function rowOf(rounds: readonly Rounds[], decidedAlone: number): Row {
  const answers = rounds.reduce((sum, { shared }) => sum + shared.answers, 0);
  if (decidedAlone > MOST_DECIDED_ALONE * answers) {
    throw new Error(`${decidedAlone} of ${answers} requests were decided without Redis: the rounds do not count.`);
  }
  const ratio = summarize(rounds.map(({ alone, shared }) => shared.cpuMicrosPerAnswer / alone.cpuMicrosPerAnswer));
  const costOf = (name: keyof Rounds) =>
    summarize(rounds.map((round) => round[name].cpuMicrosPerAnswer)).median.toFixed(1);
  return {
    part: 'redis',
    what: 'hot JSON: CPU time of the server with Redis / without',
    measured: `${costOf('shared')} / ${costOf('alone')} µs an answer = ${formatSummary(ratio, 2)}; ${decidedAlone} of ${answers} requests decided without Redis`,
    target: `at most ${MOST_RATIO}`,
    isMet: ratio.median <= MOST_RATIO,
    figures: { rounds },
  };
}
