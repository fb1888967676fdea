import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeLimiterContract } from '../../test/contracts/limiter.ts';
import { createManualClock } from '../../test/helpers/clock.ts';
import { runsOf } from '../../test/helpers/runs.ts';
import type { Clock } from '../lib/clock.ts';
import { RedisUnavailable } from '../lib/redis/connection.ts';
import { createFallbackRateLimiter } from './fallback.ts';
import type { SharedRateLimiter } from './limiter.ts';
import { createMemoryRateLimiter } from './memory.ts';

const CLIENT = '192.0.2.1';
const limit = { requests: 3, windowMs: 30_000 };

/** For a few clients, because its memory grows with their number. */
const createLocalLimiter = (clock: Clock) => createMemoryRateLimiter({ clock, maxClients: 100 });

/** A shared log that can become unreachable and lose its data, like Redis. */
function createSharedLog(clock = createManualClock()) {
  let log = createLocalLimiter(clock);
  let isUnreachable = false;
  const shared: SharedRateLimiter = {
    async hit(client, under, mayAdmit) {
      if (isUnreachable) throw new RedisUnavailable('test');
      return mayAdmit ? log.hit(client, under) : { isAllowed: false, ...log.budget(client, under) };
    },
  };
  return {
    shared,
    /** Admits a request of the same client on another instance. */
    admitElsewhere: () => log.hit(CLIENT, limit),
    forgetAll() {
      log = createLocalLimiter(clock);
    },
    setOutage(isOut: boolean) {
      isUnreachable = isOut;
    },
  };
}

function createSubject() {
  const clock = createManualClock();
  const log = createSharedLog(clock);
  const limiter = createFallbackRateLimiter({ shared: log.shared, local: createLocalLimiter(clock) });
  const ask = async () => limiter.hit(CLIENT, limit);

  async function admitted(times: number): Promise<number> {
    let count = 0;
    for (let sent = 0; sent < times; sent += 1) if ((await ask()).isAllowed) count += 1;
    return count;
  }

  return { clock, log, ask, admitted };
}

describeLimiterContract('a shared log with the local log of an instance', () => {
  const clock = createManualClock();
  const { shared } = createSharedLog(clock);
  const own = createLocalLimiter(clock);
  return { limiter: createFallbackRateLimiter({ shared, local: own }), advance: clock.advance };
});

describe('the limit after Redis could not decide', () => {
  test('gives back the places of requests that Redis refused', async () => {
    const { ask, admitted, log } = createSubject();
    expect(await admitted(1)).toBe(1);
    log.admitElsewhere();
    log.admitElsewhere();
    const decisions = await Promise.all([ask(), ask(), ask()]);
    expect(decisions.filter(({ isAllowed }) => isAllowed)).toEqual([]);
    log.setOutage(true);
    expect(await admitted(5)).toBe(2);
  });
});

test('a request counts from its arrival, however late the decision comes', async () => {
  const clock = createManualClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  let isSlow = true;
  const shared: SharedRateLimiter = {
    async hit() {
      if (isSlow) await promise;
      return { isAllowed: true, remaining: 5, resetMs: 1 };
    },
  };
  const limiter = createFallbackRateLimiter({ shared, local: createLocalLimiter(clock) });
  const decisions = [1, 2, 3].map(() => limiter.hit(CLIENT, limit));
  clock.advance(5_000);
  isSlow = false;
  expect((await limiter.hit(CLIENT, limit)).isAllowed).toBe(false);
  resolve();
  expect((await Promise.all(decisions)).map(({ isAllowed }) => isAllowed)).toEqual([true, true, true]);
  expect(await limiter.hit(CLIENT, limit)).toEqual({ isAllowed: false, remaining: 0, resetMs: 25_000 });
});

test('whatever happens to Redis, no window of the instance exceeds the limit, and the reported wait is enough', async () => {
  const step = fc.record({
    requests: fc.integer({ min: 0, max: 5 }),
    elsewhere: fc.integer({ min: 0, max: 2 }),
    happens: fc.constantFrom('nothing', 'nothing', 'outage', 'recovery', 'loss'),
    thenMs: fc.integer({ min: 0, max: 12_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { clock, log, ask } = createSubject();
      const admittedAtMs: number[] = [];
      for (const { requests, elsewhere, happens, thenMs } of steps) {
        if (happens === 'loss') log.forgetAll();
        else if (happens !== 'nothing') log.setOutage(happens === 'outage');
        for (let sent = 0; sent < elsewhere; sent += 1) log.admitElsewhere();
        const decisions = await Promise.all(Array.from({ length: requests }, ask));
        const nowMs = clock.monotonic();
        for (const { isAllowed } of decisions) if (isAllowed) admittedAtMs.push(nowMs);
        const recent = admittedAtMs.filter((atMs) => nowMs - atMs < limit.windowMs);
        expect(recent.length).toBeLessThanOrEqual(limit.requests);
        for (const { isAllowed, resetMs } of decisions) {
          expect(resetMs).toBeLessThanOrEqual(limit.windowMs);
          if (!isAllowed) expect(resetMs).toBeGreaterThan(0);
        }
        clock.advance(thenMs);
      }
      log.setOutage(false);
      const last = await ask();
      if (last.isAllowed) return;
      clock.advance(last.resetMs);
      expect((await ask()).isAllowed).toBe(true);
    }),
    { numRuns: runsOf(300) },
  );
});
