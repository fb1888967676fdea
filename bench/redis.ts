import { join } from 'node:path';
import { startRedisServer } from '../test/helpers/redis.ts';
import { type Round, runRound } from './load.ts';
import { stopProcess } from './processes.ts';
import type { Print, Row } from './report.ts';
import { assertAllGood, readMetric, SAMPLE_CHANNEL, startPinnedService } from './servers.ts';
import { formatSummary, summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const PATH = `/api/channel/${SAMPLE_CHANNEL}`;
const ROUNDS = 15;
/** Rounds are short, so that other work on the machine affects both servers equally. */
const ROUND_SECONDS = 1;
/** The code with Redis is compiled later than the code without. */
const WARM_UP_ROUNDS = 8;
const MOST_RATIO = 1.25;
/** The maximum share of requests that are decided without Redis. More of them would make the figure meaningless. */
const MOST_DECIDED_ALONE = 0.001;

/** The server's CPU time for a hot record with Redis, which decides the rate limit, compared with one without. */
export async function bench(print: Print): Promise<Row[]> {
  const redis = await startRedisServer();
  try {
    return [await inTemporaryDirectory((directory) => compare(directory, redis.url, print))];
  } finally {
    await redis.remove();
  }
}

async function compare(directory: string, redisUrl: string, print: Print): Promise<Row> {
  const alone = await startPinnedService(join(directory, 'alone'));
  const shared = await startPinnedService(join(directory, 'shared'), { REDIS_URL: redisUrl });
  const decidedAlone = () => readMetric(shared, 'pennant_limiter_decided_alone_total');
  try {
    const runBoth = async () => ({
      alone: await runRound(alone, PATH, ROUND_SECONDS),
      shared: await runRound(shared, PATH, ROUND_SECONDS),
    });
    for (let number = 0; number < WARM_UP_ROUNDS; number += 1) await runBoth();
    const decidedAloneBefore = await decidedAlone();
    const rounds: Awaited<ReturnType<typeof runBoth>>[] = [];
    for (let number = 0; number < ROUNDS; number += 1) {
      rounds.push(await runBoth());
      print(`  ${JSON.stringify(rounds.at(-1))}`);
    }
    for (const service of [alone, shared]) await assertAllGood(service);
    return rowOf(rounds, (await decidedAlone()) - decidedAloneBefore);
  } finally {
    await stopProcess(alone);
    await stopProcess(shared);
  }
}

function rowOf(rounds: readonly { readonly alone: Round; readonly shared: Round }[], decidedAlone: number): Row {
  const responses = rounds.reduce((sum, { shared }) => sum + shared.responses, 0);
  const ratio = summarize(rounds.map(({ alone, shared }) => shared.cpuMicrosPerResponse / alone.cpuMicrosPerResponse));
  return {
    part: 'redis',
    what: 'hot JSON: CPU time of the server with Redis / without',
    measured: `${formatSummary(ratio, 2)}; ${decidedAlone} of ${responses} requests decided without Redis`,
    target: `at most ${MOST_RATIO}; ${MOST_DECIDED_ALONE * 100} % decided without Redis`,
    isMet: ratio.median <= MOST_RATIO && decidedAlone <= MOST_DECIDED_ALONE * responses,
    figures: { rounds },
  };
}
