import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import { createFallbackRateLimiter } from './fallback.ts';
import type { RateLimiter } from './limiter.ts';
import { createMemoryRateLimiter } from './memory.ts';

const limit = { requests: 3, windowMs: 30_000 };

/** A shared limiter that can be had or not. */
function createSubject() {
  const clock = createManualClock();
  const together = createMemoryRateLimiter({ clock });
  const failure: { current: Error | undefined } = { current: undefined };
  const shared: RateLimiter = {
    async hit(client, under) {
      if (failure.current !== undefined) throw failure.current;
      return together.hit(client, under);
    },
    close: () => together.close(),
  };
  const own = createMemoryRateLimiter({ clock });
  const limiter = createFallbackRateLimiter({ shared, own, clock });

  async function admitted(times: number): Promise<number> {
    let count = 0;
    for (let sent = 0; sent < times; sent += 1) {
      if ((await limiter.hit('192.0.2.1', limit)).isAllowed) count += 1;
    }
    return count;
  }

  return {
    clock,
    limiter,
    admitted,
    /** Another instance admits a request of the same client. */
    admitElsewhere: () => together.hit('192.0.2.1', limit),
    setOutage(isOut: boolean) {
      failure.current = isOut ? new RedisUnavailable('test') : undefined;
    },
    failWith(error: Error) {
      failure.current = error;
    },
  };
}

describe('the limit while Redis cannot decide', () => {
  test('has the same numbers', async () => {
    const { admitted, limiter, setOutage } = createSubject();
    setOutage(true);
    expect(await admitted(20)).toBe(3);
    expect(limiter.stats().decidedAlone).toBe(20);
  });

  test('gives no new budget to a client whose requests were admitted here before', async () => {
    const { admitted, setOutage } = createSubject();
    expect(await admitted(2)).toBe(2);
    setOutage(true);
    expect(await admitted(5)).toBe(1);
  });

  test('gives no new budget when it ends', async () => {
    const { admitted, setOutage, clock } = createSubject();
    setOutage(true);
    expect(await admitted(2)).toBe(2);
    setOutage(false);
    expect(await admitted(5)).toBe(1);
    clock.advance(limit.windowMs);
    expect(await admitted(5)).toBe(3);
  });

  test('counts what other instances admitted as soon as it ends', async () => {
    const { admitted, admitElsewhere, setOutage } = createSubject();
    setOutage(true);
    await admitted(1);
    setOutage(false);
    admitElsewhere();
    admitElsewhere();
    expect(await admitted(5)).toBe(1);
  });

  test('does not hide a bug', async () => {
    const { limiter, failWith } = createSubject();
    failWith(new TypeError('a bug'));
    await expect(limiter.hit('192.0.2.1', limit)).rejects.toThrow('a bug');
  });
});
