import { expect, test } from 'vitest';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import { createRedisRateLimiter } from './redis.ts';

const LIMIT = { requests: 10, windowMs: 30_000 };

test('at most 10,000 requests wait for Redis, and further ones are rejected at once', async () => {
  const { promise: outage, reject } = Promise.withResolvers<never>();
  let commands = 0;
  const run = () => {
    commands += 1;
    return outage;
  };
  const limiter = createRedisRateLimiter({ connection: { run } });
  const waiting = Array.from({ length: 10_000 }, (_, number) => limiter.hit(`client ${number}`, LIMIT));
  await expect(limiter.hit('one more', LIMIT)).rejects.toBeInstanceOf(RedisUnavailable);
  expect(limiter.stats()).toEqual({ entries: 10_000, maxEntries: 10_000 });
  const settled = Promise.allSettled(waiting);
  outage.catch(() => undefined);
  reject(new RedisUnavailable('Redis is paused after a failure.'));
  const outcomes = await settled;
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  expect(commands).toBeLessThan(200);
  expect(limiter.stats().entries).toBe(0);
});
