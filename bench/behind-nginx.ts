import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BEHIND_CDN, type Front, findNginx, startFront } from '../test/helpers/front.ts';
import type { RedisServer } from '../test/helpers/redis.ts';
import { findLoadGenerator } from './load.ts';
import { cpuSeconds, SERVER_CORE } from './processes.ts';
import type { Row } from './report.ts';
import { type Service, startService } from './servers.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const PATH = '/api/channel/UCPennantSample00000001A';
const ROUNDS = 9;
const ROUND_SECONDS = 3;
const WARM_UP_SECONDS = 4;

/** CPU time of a cached record, in µs. */
type Parts = Readonly<Record<'nginx' | 'instance' | 'Redis', number>>;

interface Arrangement {
  readonly what: string;
  readonly service: Service;
  readonly front: Front;
  readonly rounds: Parts[];
}

/**
 * Where the rate limit is decided: nginx, an instance and Redis share one core, as they share the cores of a machine with an
 * instance for each core. The arrangements take turns.
 */
export async function measureBehindNginx(part: string, redis: RedisServer): Promise<Row[]> {
  if (!findNginx()) return [];
  const redisPid = Number(/process_id:(\d+)/.exec(String(await redis.command('INFO', 'server')))?.[1]);
  await pin(redisPid);
  const load = await findLoadGenerator();
  return inTemporaryDirectory(async (directory) => {
    const arrangements: Arrangement[] = [];
    const stops: (() => Promise<void>)[] = [];
    try {
      for (const [what, shared] of [
        ['the instance decides', 'off'],
        ['Redis decides', 'on'],
      ] as const) {
        const settings = { REDIS_URL: redis.url, RATE_LIMIT_SHARED: shared };
        const service = await startService(join(directory, shared), settings);
        stops.push(service.stop);
        const port = Number(new URL(service.url).port);
        // The file names three instances.
        const front = await startFront([port, port, port], BEHIND_CDN);
        stops.push(front.stop);
        arrangements.push({ what, service, front, rounds: [] });
        for (const pid of await nginxPids(front)) await pin(pid);
        await load.run(front.base + PATH, WARM_UP_SECONDS);
      }
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const { service, front, rounds } of arrangements) {
          const used = async () => ({
            nginx: await sumOfCpuSeconds(await nginxPids(front)),
            instance: await cpuSeconds(service.pid),
            Redis: await cpuSeconds(redisPid),
          });
          const before = await used();
          const { answers } = await load.run(front.base + PATH, ROUND_SECONDS);
          const after = await used();
          const perAnswer = (name: keyof Parts) => ((after[name] - before[name]) / answers) * 1e6;
          rounds.push({ nginx: perAnswer('nginx'), instance: perAnswer('instance'), Redis: perAnswer('Redis') });
        }
      }
      for (const { service } of arrangements) await service.assertAllGood();
      return arrangements.map((arrangement) => rowOf(part, arrangement));
    } finally {
      for (const stop of stops.reverse()) await stop();
    }
  });
}

function rowOf(part: string, { what, rounds }: Arrangement): Row {
  const names = ['nginx', 'instance', 'Redis'] as const;
  const medians = names.map((name) => `${name} ${summarize(rounds.map((round) => round[name])).median.toFixed(1)}`);
  const { median } = summarize(rounds.map(({ nginx, instance, Redis }) => nginx + instance + Redis));
  return {
    part,
    what: `a record in memory, behind nginx on one core: ${what}`,
    measured: `${median.toFixed(1)} µs of CPU each: ${medians.join(', ')}`,
    figures: { rounds },
  };
}

async function pin(pid: number): Promise<void> {
  await promisify(execFile)('taskset', ['-acp', String(SERVER_CORE), String(pid)]);
}

/** The first process and its worker. */
async function nginxPids(front: Front): Promise<number[]> {
  const first = Number(await readFile(join(front.cacheDirectory, '..', 'nginx.pid'), 'utf8'));
  const children = await readFile(`/proc/${first}/task/${first}/children`, 'utf8');
  return [first, ...children.trim().split(' ').map(Number)];
}

/** Processes that have ended in the meantime, such as nginx's cache loader, count as 0. */
async function sumOfCpuSeconds(pids: readonly number[]): Promise<number> {
  const times = await Promise.all(pids.map((pid) => cpuSeconds(pid).catch(() => 0)));
  return times.reduce((sum, seconds) => sum + seconds, 0);
}
