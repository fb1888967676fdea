import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RedisClient } from '../../src/lib/redis/client.ts';
import { createRedisConnection, type RedisConnection, RedisUnavailable } from '../../src/lib/redis/connection.ts';
import { createFallbackRateLimiter } from '../../src/rate-limit/fallback.ts';
import { createMemoryRateLimiter } from '../../src/rate-limit/memory.ts';
import { createRedisRateLimiter } from '../../src/rate-limit/redis.ts';
import { describeLimiterContract } from '../contracts/limiter.ts';
import { createManualClock } from '../helpers/clock.ts';
import { connectTo, findRedisServer, type RedisServer, startRedisServer } from '../helpers/redis.ts';
import { HANG_MS } from '../helpers/wait.ts';

type EvalOptions = Parameters<RedisClient['eval']>[1];

/**
 * Replaces the time in scripts by one that the test moves, because Redis's own clock cannot be moved. Keys still expire
 * by Redis's clock.
 */
function withScriptTime(connection: RedisConnection, nowMs: () => number): Pick<RedisConnection, 'run'> {
  function replaceTime(lua: string): string {
    const microseconds = Math.round(nowMs() * 1000);
    const time = `{ '${Math.floor(microseconds / 1_000_000)}', '${microseconds % 1_000_000}' }`;
    if (!lua.includes("redis.call('TIME')")) throw new Error('the script does not ask for the time');
    return lua.replaceAll("redis.call('TIME')", time);
  }

  return {
    run: (command) =>
      connection.run((client) => {
        const scripted = Object.create(client, {
          // Then the client sends the script's text, in which the time can be replaced.
          evalSha: { value: () => Promise.reject(new Error('NOSCRIPT')) },
          eval: { value: (lua: string, options: EvalOptions) => client.eval(replaceTime(lua), options) },
        }) as RedisClient;
        return command(scripted);
      }),
  };
}

/** Longer than any test takes on Redis's own clock. */
const HOUR_MS = 3_600_000;

describe.skipIf(!findRedisServer())('with a real redis-server', () => {
  let server: RedisServer;
  const connections: RedisConnection[] = [];

  async function connect(): Promise<RedisConnection> {
    const connection = await connectTo(server);
    connections.push(connection);
    return connection;
  }

  beforeAll(async () => {
    server = await startRedisServer();
    await connect();
  });
  beforeEach(() => server.command('FLUSHALL'));
  afterAll(async () => {
    for (const connection of connections) connection.close();
    await server?.remove();
  });

  function createMovable() {
    const clock = createManualClock();
    const [connection] = connections as [RedisConnection];
    return { clock, limiter: createRedisRateLimiter({ connection: withScriptTime(connection, clock.now) }) };
  }

  describeLimiterContract('Redis', () => {
    const { clock, limiter } = createMovable();
    return { limiter, advance: clock.advance };
  });

  test('admits exactly the limit when requests reach three new instances at once, and Redis needs 249 ms', async () => {
    const clock = createManualClock();
    const instances = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const connection = await createRedisConnection({
          url: server.url,
          onStateChange: () => undefined,
          clock,
          connectTimeoutMs: HANG_MS,
        });
        connections.push(connection);
        const local = createMemoryRateLimiter({ clock });
        return {
          connection,
          limiter: createFallbackRateLimiter({ shared: createRedisRateLimiter({ connection }), local }),
        };
      }),
    );
    server.freeze();
    const limit = { requests: 10, windowMs: HOUR_MS };
    const decisions = instances.flatMap(({ limiter }) =>
      Array.from({ length: 100 }, () => limiter.hit('192.0.2.1', limit)),
    );
    const stored = instances.map(({ connection }) => connection.run((redis) => redis.get('value')));
    // The commands are sent in the next turn, and their time-outs start in the one after it.
    for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    clock.advance(249);
    for (const value of stored) await expect(value).rejects.toBeInstanceOf(RedisUnavailable);
    server.thaw();
    const admitted = (await Promise.all(decisions)).filter(({ isAllowed }) => isAllowed);
    expect(admitted.map(({ remaining }) => remaining).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(instances.map(({ connection }) => connection.stats().isUsable)).toEqual([true, true, true]);
  });

  test.each([
    ['a text', ['SET', 'text']],
    ['a set', ['SADD', 'item']],
    ['a list of texts', ['RPUSH', ...Array(10).fill('text')]],
    ['a list of texts instead of numbers', ['RPUSH', ...Array(10).fill('nan')]],
    ['a list that ends in a text', ['RPUSH', '1', 'text']],
    ['a list with a text behind old times', ['RPUSH', '1', 'text', ...Array(8).fill('1')]],
    ['times that are not in order', ['RPUSH', ...Array(9).fill('9'.repeat(300)), '1']],
    ['more times than are allowed', ['RPUSH', ...Array(1_000).fill('1')]],
  ])('begins a new log when a key holds %s', async (_what, [command = '', ...items]) => {
    const [connection] = connections as [RedisConnection];
    const limiter = createRedisRateLimiter({ connection });
    const limit = { requests: 10, windowMs: HOUR_MS };
    await server.command(command, `pennant:limit1:10/${HOUR_MS}:192.0.2.1`, ...items);
    expect(await limiter.hit('192.0.2.1', limit)).toMatchObject({ isAllowed: true, remaining: 9 });
    expect(await limiter.hit('192.0.2.1', limit)).toMatchObject({ isAllowed: true, remaining: 8 });
  });

  test('uses the clock of Redis, and a log expires with its newest request', async () => {
    const limiter = createRedisRateLimiter({ connection: connections[0] as RedisConnection });
    const limit = { requests: 2, windowMs: HOUR_MS };
    await limiter.hit('192.0.2.1', limit);
    await limiter.hit('192.0.2.1', limit);
    expect(await limiter.hit('192.0.2.1', limit)).toMatchObject({ isAllowed: false, remaining: 0 });
    const [key] = (await server.command('KEYS', 'pennant:limit*')) as [string];
    const times = ((await server.command('LRANGE', key, '0', '-1')) as string[]).map(Number);
    const [seconds, microseconds] = (await server.command('TIME')) as [string, string];
    const nowUs = Number(seconds) * 1e6 + Number(microseconds);
    expect(times).toHaveLength(2);
    expect(Math.max(...times)).toBeLessThanOrEqual(nowUs);
    const expiresAtMs = (await server.command('PEXPIRETIME', key)) as number;
    expect(expiresAtMs - limit.windowMs).toBeGreaterThanOrEqual(Math.floor(Math.max(...times) / 1000));
    expect(expiresAtMs - limit.windowMs).toBeLessThanOrEqual(nowUs / 1000);
  });
});
