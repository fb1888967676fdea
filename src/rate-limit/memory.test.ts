import { describe, expect, it } from 'vitest';
import { describeLimiterContract } from '../../test/contracts/limiter.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createMemoryRateLimiter } from './memory.ts';

const LIMIT = { requests: 10, windowMs: 30_000 };

describeLimiterContract('the in-process limiter', () => {
  const clock = createManualClock();
  return { limiter: createMemoryRateLimiter({ clock }), advance: clock.advance };
});

function createFullLimiter(maxClients: number) {
  const clock = createManualClock();
  const limiter = createMemoryRateLimiter({ clock, maxClients });
  function hit(client: string, times = 1) {
    let last = limiter.hit(client, LIMIT);
    for (let count = 1; count < times; count += 1) last = limiter.hit(client, LIMIT);
    return last;
  }
  return { clock, limiter, hit };
}

describe('the in-process limiter when it is full', () => {
  it('forgets the clients that it has not seen for the longest time', () => {
    const { limiter, hit } = createFullLimiter(3);
    hit('blocked', 10);
    hit('a');
    hit('b');
    expect(hit('blocked').isAllowed).toBe(false);
    hit('c');
    expect(limiter.stats()).toEqual({ entries: 3, evicted: 1 });
    expect(hit('blocked').isAllowed).toBe(false);
    expect(hit('b').remaining).toBe(8);
    expect(hit('a').remaining).toBe(9);
  });
});

describe('the in-process limiter over time', () => {
  it('uses the monotonic clock, so that a jump of the wall clock neither blocks nor admits a client', () => {
    const { clock, hit } = createFullLimiter(10);
    hit('client', 10);
    clock.jumpWallClock(3_600_000);
    expect(hit('client').isAllowed).toBe(false);
    clock.jumpWallClock(-7_200_000);
    clock.advance(LIMIT.windowMs);
    expect(hit('client').isAllowed).toBe(true);
  });
});
