/** Measures the figures of docs/scaling.md: `npx node bench/capacity.ts`. Needs redis-server, and nginx for some. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildApp } from '../src/app/build.ts';
import { parseConfig } from '../src/config/settings.ts';
import { createLogger } from '../src/lib/logger.ts';
import { CACHE_POLICY } from '../src/services/cache-policy.ts';
import { createManualClock } from '../test/helpers/clock.ts';
import { sendInProcess } from '../test/helpers/in-process.ts';
import { type RedisServer, startRedisServer } from '../test/helpers/redis.ts';
import { startReplayServer } from '../test/helpers/replay-server.ts';
import { fetchGood } from './answer.ts';
import { measureBehindNginx } from './behind-nginx.ts';
import { measureInstanceLoads } from './instance-loads.ts';
import { findLoadGenerator } from './load.ts';
import { formatTable, type Row } from './report.ts';
import { runRound } from './rounds.ts';
import { startService } from './servers.ts';

const PART = 'capacity';
const SAMPLE = 'UCPennantSample00000001A';
/** A channel in the recorded answers, with a banner, an avatar and an About panel. */
const CHANNEL = 'UCreplayLighthouse000001';
const HANDLE = 'BellRockLight';
const ROUND_SECONDS = 4;

const redis = await startRedisServer();
const directory = await mkdtemp(join(tmpdir(), 'pennant-capacity-'));
try {
  const rows = [
    ...(await measureCalls()),
    ...(await measureStoredBytes()),
    ...(await measureCpu('one process alone', {})),
    ...(await measureCpu('with Redis', { REDIS_URL: redis.url })),
    ...(await measureBehindNginx(PART, redis)),
    ...(await measureInstanceLoads(PART, console.log)),
  ];
  console.log(formatTable(rows));
} finally {
  await redis.remove();
  await rm(directory, { recursive: true, force: true });
}

/** Outgoing calls for the first and for later requests of one channel. */
async function measureCalls(): Promise<Row[]> {
  const upstream = await startReplayServer();
  const clock = createManualClock();
  const config = parseConfig({
    SOURCES: 'youtube',
    DATA_DIR: join(directory, 'calls'),
    YOUTUBE_ORIGIN: upstream.origin,
    YOUTUBE_IMAGE_ORIGIN: upstream.origin,
  });
  const logger = createLogger({ level: 'silent' });
  const app = await buildApp(config, { logger, version: 'bench', clock });
  const rows: Row[] = [];

  async function ask(what: string, url: string): Promise<void> {
    upstream.forgetCalls();
    const { status } = await sendInProcess(app.http, { url });
    if (status !== 200) throw new Error(`${url} answered ${status}.`);
    // The exact publish date is requested after the response.
    await new Promise((resolve) => setTimeout(resolve, 200));
    const routes = upstream.calls.map(({ route }) => route);
    rows.push({ part: PART, what: `calls for ${what}`, measured: `${routes.length} ${routes.join(', ')}` });
  }

  try {
    await ask('a record, first time', `/api/channel/${CHANNEL}`);
    await ask('a record, again', `/api/channel/${CHANNEL}`);
    clock.advance(CACHE_POLICY.records.freshMs + 1);
    await ask('a record, an hour later', `/api/channel/${CHANNEL}`);
    await ask('a handle of a known channel', `/api/channel/${HANDLE}?type=handle`);
    await ask('a banner, first time', `/${CHANNEL}/tv.avif`);
    await ask('another crop and format of it', `/${CHANNEL}/mobile.webp`);
    return rows;
  } finally {
    await app.close();
    await upstream.close();
  }
}

/** Memory of Redis for each kind of key, including its overhead. */
async function measureStoredBytes(): Promise<Row[]> {
  const service = await startService(join(directory, 'bytes'), { REDIS_URL: redis.url });
  try {
    for (const url of [`/api/channel/${SAMPLE}`, '/api/channel/pennantsample?type=handle', `/${SAMPLE}/desktop.avif`]) {
      await fetchGood(service.url + url);
    }
    await fetchGood(`${service.url}/api/search?q=pennant`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const keys = ((await redis.command('KEYS', 'pennant:*')) as string[]).toSorted();
    const rows: Row[] = [];
    for (const key of keys) {
      const bytes = Number(await redis.command('MEMORY', 'USAGE', key));
      rows.push({ part: PART, what: `Redis: ${key.slice(0, 40)}`, measured: `${bytes} bytes` });
    }
    return rows;
  } finally {
    await service.stop();
  }
}

/** CPU time of a response from memory, including the decision of the limiter. */
async function measureCpu(what: string, settings: Record<string, string>): Promise<Row[]> {
  const load = await findLoadGenerator();
  const service = await startService(join(directory, what), settings);
  const rows: Row[] = [];
  try {
    for (const [kind, path] of [
      ['record', `/api/channel/${SAMPLE}`],
      ['picture', `/${SAMPLE}/desktop.avif`],
    ] as const) {
      await load.run(service.url + path, 2);
      const redisBefore = await redisUse(redis);
      const round = await runRound(service, path, load, ROUND_SECONDS);
      const { answers, answersPerSecond, cpuMicrosPerAnswer, p99Ms } = round;
      const redisAfter = await redisUse(redis);
      const redisCpu = ((redisAfter.cpuSeconds - redisBefore.cpuSeconds) / answers) * 1e6;
      const commands = (redisAfter.commands - redisBefore.commands) / answers;
      const inRedis =
        settings.REDIS_URL === undefined
          ? ''
          : `, ${commands.toFixed(2)} commands and ${redisCpu.toFixed(0)} µs in Redis`;
      rows.push({
        part: PART,
        what: `a ${kind} in memory, ${what}`,
        measured: `${cpuMicrosPerAnswer.toFixed(0)} µs of CPU each (${answersPerSecond.toFixed(0)}/s, p99 ${p99Ms.toFixed(1)} ms)${inRedis}`,
      });
    }
    await service.assertAllGood();
    return rows;
  } finally {
    await service.stop();
  }
}

async function redisUse(server: RedisServer): Promise<{ cpuSeconds: number; commands: number }> {
  const info = `${await server.command('INFO', 'cpu')}\n${await server.command('INFO', 'commandstats')}`;
  const used = [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, seconds]) => Number(seconds));
  // Includes the commands that a script executes.
  const commands = [...info.matchAll(/^cmdstat_(?:get|set|del|evalsha):calls=(\d+)/gm)];
  return {
    cpuSeconds: used.reduce((sum, seconds) => sum + seconds, 0),
    commands: commands.reduce((sum, [, calls]) => sum + Number(calls), 0),
  };
}
