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
  it('does not grow beyond its active clients when new ones keep coming', () => {
    const { clock, limiter, hit } = createFullLimiter(10_000);
    for (let client = 0; client < 5_000; client += 1) {
      hit(`client ${client}`);
      clock.advance(30);
    }
    expect(limiter.stats().entries).toBeLessThan(1_100);
    expect(limiter.stats().evicted).toBe(0);
  });

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

describe('requests that another limiter has rejected', () => {
  it('are forgotten, newest first, and the others count for a full window', () => {
    const { clock, limiter, hit } = createFullLimiter(10);
    hit('client');
    clock.advance(10_000);
    hit('client', 3);
    limiter.takeBack('client', LIMIT);
    limiter.takeBack('client', LIMIT);
    expect(limiter.budget('client', LIMIT)).toEqual({ remaining: 8, resetMs: LIMIT.windowMs - 10_000 });
    clock.advance(LIMIT.windowMs - 10_000);
    expect(limiter.budget('client', LIMIT)).toEqual({ remaining: 9, resetMs: 10_000 });
    clock.advance(10_000);
    expect(limiter.budget('client', LIMIT)).toEqual({ remaining: 10, resetMs: 0 });
  });
});
