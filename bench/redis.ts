import { buildApp } from '../src/app/build.ts';
import { parseRedisUrl } from '../src/config/redis-url.ts';
import { parseConfig } from '../src/config/settings.ts';
import { createLogger } from '../src/lib/logger.ts';
import { createRedisConnection, type RedisConnection } from '../src/lib/redis/connection.ts';
import { createRedisRateLimiter } from '../src/rate-limit/redis.ts';
import { sendInProcess } from '../test/helpers/in-process.ts';
import { type RedisServer, startRedisServer } from '../test/helpers/redis.ts';
import { benchRedisHot } from './redis-hot.ts';
import type { Print, Row } from './report.ts';
import { SAMPLE_CHANNEL } from './servers.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const LIMIT = { requests: 10, windowMs: 30_000 };
const DECISIONS = 20_000;

/** A real redis-server on loopback: hot responses, decisions, and the commands of a request. */
export async function bench(print: Print): Promise<Row[]> {
  const server = await startRedisServer();
  try {
    return [
      ...(await benchRedisHot(server, print)),
      ...(await decisionRows(server)),
      ...(await inTemporaryDirectory((dataDir) => commandRows(dataDir, server))),
    ];
  } finally {
    await server.remove();
  }
}

async function decisionRows({ url }: RedisServer): Promise<Row[]> {
  const connection = await createRedisConnection({
    address: parseRedisUrl(url),
    onStateChange: (problem) => console.error(problem),
  });
  try {
    return [await decisionRow(connection, 1), await decisionRow(connection, 64)];
  } finally {
    connection.close();
  }
}

async function decisionRow(connection: RedisConnection, atOnce: number): Promise<Row> {
  const limiter = createRedisRateLimiter({ connection });
  const times: number[] = [];
  let next = 0;
  async function decide(): Promise<void> {
    while (next < DECISIONS) {
      next += 1;
      const startedAt = performance.now();
      await limiter.hit(`client ${next % 1_000}`, LIMIT);
      times.push(performance.now() - startedAt);
    }
  }
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: atOnce }, decide));
  const perSecond = DECISIONS / ((performance.now() - startedAt) / 1000);
  return {
    part: 'redis',
    what: `rate limit decisions, ${atOnce} at once`,
    measured: `${perSecond.toFixed(0)}/s, p50 ${percentile(times, 0.5)} ms, p99 ${percentile(times, 0.99)} ms`,
  };
}

/** The commands that the server executes for one request. */
async function commandRows(dataDir: string, server: RedisServer): Promise<Row[]> {
  await server.command('FLUSHALL');
  const config = parseConfig({ SOURCES: 'catalog', DATA_DIR: dataDir, REDIS_URL: server.url, RATE_LIMIT: '100000/30' });
  const app = await buildApp(config, {
    logger: createLogger({ level: 'silent' }),
    version: 'bench',
  });
  const rows: Row[] = [];
  try {
    for (const [what, url] of [
      ['a record, first time', `/api/channel/${SAMPLE_CHANNEL}`],
      ['a record in memory', `/api/channel/${SAMPLE_CHANNEL}`],
      ['an image, first time', `/${SAMPLE_CHANNEL}/tv.webp`],
      ['an image in memory', `/${SAMPLE_CHANNEL}/tv.webp`],
      ['another crop of the same original', `/${SAMPLE_CHANNEL}/mobile.webp`],
      ['a search, first time', '/api/search?q=kitchen'],
    ] as const) {
      await server.command('CONFIG', 'RESETSTAT');
      await sendInProcess(app.http, { url });
      // Writes are sent after the response.
      await new Promise((resolve) => setTimeout(resolve, 200));
      rows.push({ part: 'redis', what: `commands for ${what}`, measured: await commandsSince(server) });
    }
  } finally {
    await app.close();
  }
  return rows;
}

async function commandsSince(server: RedisServer): Promise<string> {
  const info = String(await server.command('INFO', 'commandstats'));
  const counts = [...info.matchAll(/cmdstat_(get|set|del|evalsha|eval):calls=(\d+)/g)];
  return counts.map(([, name, calls]) => `${calls} ${name}`).join(', ');
}

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((left, right) => left - right);
  return (sorted[Math.floor(share * (sorted.length - 1))] as number).toFixed(2);
}
