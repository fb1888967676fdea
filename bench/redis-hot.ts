import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedisServer } from '../test/helpers/redis.ts';
import { findLoadGenerator, type LoadGenerator } from './load.ts';
import { cpuSeconds } from './processes.ts';
import type { Row } from './report.ts';
import { type Service, startService } from './servers.ts';
import { summarize } from './statistics.ts';

const PATH = '/api/channel/UCPennantSample00000001A';
const ROUNDS = 7;
const ROUND_SECONDS = 2;
const MOST_RATIO = 1.25;

/** What a hot record costs the server with Redis, compared with one without: the limiter's decision is shared. */
export async function benchRedisHot(print: (line: string) => void): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'pennant-bench-redis-'));
  const redis = await startRedisServer();
  const load = await findLoadGenerator();
  const alone = await startService(join(directory, 'alone'));
  const shared = await startService(join(directory, 'shared'), { REDIS_URL: redis.url });
  try {
    const costs: { alone: number; shared: number }[] = [];
    for (const service of [alone, shared]) await cpuMicrosPerAnswer(service, load);
    for (let round = 0; round < ROUNDS; round += 1) {
      costs.push({
        alone: await cpuMicrosPerAnswer(alone, load),
        shared: await cpuMicrosPerAnswer(shared, load),
      });
      print(`  ${JSON.stringify(costs.at(-1))}`);
    }
    for (const service of [alone, shared]) {
      const other = await service.countOtherAnswers();
      if (other > 0) throw new Error(`${other} of the answers were not a 200: the rounds do not count.`);
    }
    return [rowOf(costs)];
  } finally {
    await alone.stop();
    await shared.stop();
    await redis.remove();
    await rm(directory, { recursive: true, force: true });
  }
}

async function cpuMicrosPerAnswer(service: Service, load: LoadGenerator): Promise<number> {
  const before = await cpuSeconds(service.pid);
  const { answers, refused, broken } = await load.run(service.url + PATH, ROUND_SECONDS);
  if (refused > 0 || broken > 0) throw new Error(`${refused} refused and ${broken} broken: the round does not count.`);
  return (((await cpuSeconds(service.pid)) - before) / answers) * 1e6;
}

function rowOf(costs: readonly { readonly alone: number; readonly shared: number }[]): Row {
  const ratio = summarize(costs.map(({ alone, shared }) => shared / alone));
  const medianOf = (name: 'alone' | 'shared') => summarize(costs.map((cost) => cost[name])).median.toFixed(0);
  const spread = `${ratio.median.toFixed(2)} (${ratio.lowest.toFixed(2)}–${ratio.highest.toFixed(2)})`;
  return {
    part: 'redis',
    what: 'hot JSON: CPU time of the server with Redis / without',
    measured: `${medianOf('shared')} / ${medianOf('alone')} µs an answer = ${spread}`,
    target: `at most ${MOST_RATIO}`,
    isMet: ratio.median <= MOST_RATIO,
    figures: { costs },
  };
}
