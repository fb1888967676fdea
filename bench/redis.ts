import { buildApp } from '../src/app/build.ts';
import { parseConfig } from '../src/config/settings.ts';
import { createLogger } from '../src/lib/logger.ts';
import { createRedisConnection, type RedisConnection } from '../src/lib/redis/connection.ts';
import { parseRedisUrl } from '../src/lib/redis/redis-url.ts';
import { createSharedPictures } from '../src/picture-store/shared-pictures.ts';
import { createRedisRateLimiter } from '../src/rate-limit/redis.ts';
import { createChanges } from '../src/store/changes.ts';
import { START } from '../src/store/shared-changes.ts';
import { sendInProcess } from '../test/helpers/in-process.ts';
import { type RedisServer, startRedisServer } from '../test/helpers/redis.ts';
import type { Row } from './report.ts';
import { summarize } from './statistics.ts';
import { inTemporaryDirectory } from './temporary-directory.ts';

const LIMIT = { requests: 10, windowMs: 30_000 };
const DECISIONS = 20_000;
const PICTURE_KIB = [32, 64, 128, 256, 512, 1024, 2048];
const PICTURE_READS = 200;

/** Measures a real redis-server on loopback: decisions, pictures by size, and the commands of a request. */
export async function benchRedis(): Promise<Row[]> {
  const server = await startRedisServer();
  const connection = await createRedisConnection({
    address: parseRedisUrl(server.url),
    onStateChange: (problem) => console.error(problem),
    // Large pictures delay later replies. The delay is measured, so there is no time-out.
    timings: { commandTimeoutMs: 5_000 },
  });
  try {
    return [
      await decisionRow(connection, 1),
      await decisionRow(connection, 64),
      ...(await pictureRows(connection)),
      ...(await requestRows(server)),
    ];
  } finally {
    connection.close();
    await server.remove();
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

const BENCH_PICTURE = 'picture2/bench/0/0,0,1,1/1x1/default.png';
const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** The time of a picture, and the longest time of decisions that were requested at the same moment. */
async function pictureRows(connection: RedisConnection): Promise<Row[]> {
  const limiter = createRedisRateLimiter({ connection });
  const pictures = createSharedPictures({
    connection,
    changes: createChanges(),
    sharedChanges: { position: () => START },
    maxPictureBytes: Number.MAX_SAFE_INTEGER,
  });
  const rows: Row[] = [];
  for (const kib of PICTURE_KIB) {
    await pictures.set(BENCH_PICTURE, Buffer.concat([PNG_SIGNATURE, Buffer.alloc(kib * 1024, 7)]));
    const reads: number[] = [];
    const decisions: number[] = [];
    for (let read = 0; read < PICTURE_READS; read += 1) {
      const startedAt = performance.now();
      const reading = Promise.all([1, 2, 3, 4].map(() => pictures.get(BENCH_PICTURE)));
      await limiter.hit(`beside ${read}`, LIMIT);
      decisions.push(performance.now() - startedAt);
      await reading;
      reads.push(performance.now() - startedAt);
    }
    rows.push({
      part: 'redis',
      what: `four pictures of ${kib} KiB read at once`,
      measured: `${summarize(reads).median.toFixed(2)} ms; a decision behind them p50 ${percentile(decisions, 0.5)} ms, p99 ${percentile(decisions, 0.99)} ms`,
    });
  }
  return rows;
}

const SAMPLE = 'UCPennantSample00000001A';

/** The number of commands that the server executes for one request. */
function requestRows(server: RedisServer): Promise<Row[]> {
  return inTemporaryDirectory((dataDir) => requestRowsIn(dataDir, server));
}

async function requestRowsIn(dataDir: string, server: RedisServer): Promise<Row[]> {
  const config = parseConfig({ SOURCES: 'catalog', DATA_DIR: dataDir, REDIS_URL: server.url, RATE_LIMIT: '100000/30' });
  const app = await buildApp(config, {
    logger: createLogger({ level: 'silent' }),
    version: 'bench',
  });
  const rows: Row[] = [];
  try {
    for (const [what, url] of [
      ['a record, first time', `/api/channel/${SAMPLE}`],
      ['a record in memory', `/api/channel/${SAMPLE}`],
      ['a picture, first time', `/${SAMPLE}/tv.webp`],
      ['a picture in memory', `/${SAMPLE}/tv.webp`],
      ['another crop of the same original', `/${SAMPLE}/mobile.webp`],
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
