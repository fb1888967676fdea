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
  it('never keeps more clients than its cap', () => {
    const { limiter, hit } = createFullLimiter(100);
    for (let client = 0; client < 1_000; client += 1) hit(`client ${client}`);
    expect(limiter.stats()).toMatchObject({ entries: 100, maxEntries: 100, evicted: 900 });
  });

  it('forgets the clients with the most budget left first', () => {
    const { clock, hit } = createFullLimiter(3);
    hit('used 5', 5);
    clock.advance(10);
    hit('used 1', 1);
    hit('used 3', 3);
    hit('new');
    expect(hit('used 5').remaining).toBe(4);
    expect(hit('used 3').remaining).toBe(6);
    expect(hit('used 1').remaining).toBe(9);
  });

  it('keeps a blocked client blocked during a flood of other clients', () => {
    const { hit } = createFullLimiter(50);
    hit('blocked', 10);
    for (let client = 0; client < 5_000; client += 1) hit(`client ${client}`, (client % 9) + 1);
    expect(hit('blocked').isAllowed).toBe(false);
  });

  it('compares clients of different limits by the share of their budget', () => {
    const { limiter, hit } = createFullLimiter(2);
    const wide = { requests: 1_000, windowMs: 60_000 };
    for (let count = 0; count < 20; count += 1) limiter.hit('used 2 %', wide);
    hit('used 50 %', 5);
    hit('new');
    expect(hit('used 50 %').remaining).toBe(4);
    expect(limiter.hit('used 2 %', wide).remaining).toBe(999);
  });

  it('does not count an expired client as evicted', () => {
    const { clock, limiter, hit } = createFullLimiter(10);
    for (let client = 0; client < 10; client += 1) hit(`early ${client}`);
    clock.advance(LIMIT.windowMs);
    for (let client = 0; client < 10; client += 1) hit(`late ${client}`);
    expect(limiter.stats()).toMatchObject({ entries: 10, evicted: 0 });
  });
});

describe('the in-process limiter over time', () => {
  it('removes expired clients gradually while others are served', () => {
    const { clock, limiter, hit } = createFullLimiter(100_000);
    for (let client = 0; client < 10_000; client += 1) hit(`early ${client}`, (client % 10) + 1);
    clock.advance(LIMIT.windowMs);
    let largestStep = 0;
    for (let client = 0; client < 10_000; client += 1) {
      const before = limiter.stats().entries;
      hit('steady');
      largestStep = Math.max(largestStep, before - limiter.stats().entries);
    }
    expect(limiter.stats().entries).toBe(1);
    expect(largestStep).toBeLessThan(100);
  });

  it('removes expired clients of every limit, however many limits there are', () => {
    const { clock, limiter } = createFullLimiter(100_000);
    const limits = Array.from({ length: 17 }, (_, number) => ({ requests: 10, windowMs: LIMIT.windowMs + number }));
    for (const limit of limits) {
      for (let client = 0; client < 50; client += 1) {
        for (let count = 0; count <= client % 10; count += 1) limiter.hit(`early ${client}`, limit);
      }
    }
    clock.advance(2 * LIMIT.windowMs);
    const [first = LIMIT] = limits;
    for (let visit = 0; visit < 1_000; visit += 1) limiter.hit('steady', first);
    expect(limiter.stats().entries).toBe(1);
  });

  it('keeps limits apart that differ only in their window', () => {
    const { limiter, hit } = createFullLimiter(10);
    expect(hit('client', 11).isAllowed).toBe(false);
    const slower = { ...LIMIT, windowMs: 2 * LIMIT.windowMs };
    expect(limiter.hit('client', slower)).toEqual({ isAllowed: true, remaining: 9, resetMs: slower.windowMs });
  });

  it('does not grow beyond its active clients when new ones keep coming', () => {
    const { clock, limiter, hit } = createFullLimiter(100_000);
    for (let client = 0; client < 50_000; client += 1) {
      hit(`client ${client}`);
      clock.advance(30);
    }
    expect(limiter.stats().entries).toBeLessThan(1_100);
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

  it('never exceeds the limit in any window, also at times between milliseconds', () => {
    const { clock, hit } = createFullLimiter(10);
    const admitted: number[] = [];
    for (let step = 0; step < 5_000; step += 1) {
      const nowMs = clock.monotonic();
      if (hit('client').isAllowed) admitted.push(nowMs);
      clock.advance(((step * 7_919) % 1_000) / 3);
    }
    expect(admitted.length).toBeGreaterThan(100);
    admitted.forEach((time, index) => {
      const eleventh = admitted[index + LIMIT.requests];
      if (eleventh !== undefined) expect(eleventh - time).toBeGreaterThanOrEqual(LIMIT.windowMs);
    });
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
    // Expired clients are removed while others are served.
    for (let visit = 0; visit < 1_000; visit += 1) hit('steady');
    expect(limiter.budget('client', LIMIT)).toEqual({ remaining: 9, resetMs: 10_000 });
    clock.advance(10_000);
    expect(limiter.budget('client', LIMIT)).toEqual({ remaining: 10, resetMs: 0 });
  });

  it('leave no client behind', () => {
    const { limiter, hit } = createFullLimiter(10);
    hit('client');
    limiter.takeBack('client', LIMIT);
    limiter.takeBack('client', LIMIT);
    expect(limiter.stats().entries).toBe(0);
    expect(hit('client').remaining).toBe(9);
  });
});

describe('the memory of the in-process limiter', () => {
  it('is reused for new clients after others were forgotten', () => {
    const { clock, limiter, hit } = createFullLimiter(5_000);
    const flood = (round: number) => {
      for (let client = 0; client < 5_000; client += 1) hit(`${round} ${client}`, LIMIT.requests);
    };
    flood(0);
    const { bytes } = limiter.stats();
    expect(bytes).toBeLessThan(2 * 1024 * 1024);
    for (let round = 1; round < 4; round += 1) {
      clock.advance(round === 2 ? LIMIT.windowMs : 1);
      flood(round);
    }
    expect(limiter.stats().bytes).toBe(bytes);
  });

  it('keeps all clients apart, removes the given ones and finds all others', () => {
    const { clock, hit } = createFullLimiter(100_000);
    const clients = Array.from({ length: 10_000 }, (_, number) => `2001:db8:${number.toString(16)}::/64`);
    for (const client of clients) expect(hit(client).remaining).toBe(9);
    clock.advance(LIMIT.windowMs / 2);
    const kept = clients.filter((_, number) => number % 3 === 0);
    for (const client of kept) expect(hit(client).remaining).toBe(8);
    clock.advance(LIMIT.windowMs / 2);
    for (let visit = 0; visit < 7_000; visit += 1) hit('steady');
    for (const client of kept) expect(hit(client).remaining).toBe(8);
    for (const client of clients.filter((_, number) => number % 3 === 1)) expect(hit(client).remaining).toBe(9);
  });
});
