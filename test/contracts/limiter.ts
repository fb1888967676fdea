import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RateLimit, RateLimiter } from '../../src/rate-limit/limiter.ts';
import { runsOf } from '../helpers/runs.ts';

/** A limiter under test with a way to move its clock. */
export interface LimiterUnderTest {
  readonly limiter: RateLimiter;
  advance(ms: number): void;
}

const windowMs = 30_000;
const limit: RateLimit = { requests: 10, windowMs };

/** The contract of every rate limiter. `createLimiter` is called for each test. */
export function describeLimiterContract(
  name: string,
  createLimiter: () => Promise<LimiterUnderTest> | LimiterUnderTest,
): void {
  describe(`${name} as a rate limiter`, () => {
    let subject: LimiterUnderTest;
    beforeEach(async () => {
      subject = await createLimiter();
    });

    async function hitTimes(client: string, times: number, under = limit) {
      const decisions = [];
      for (let count = 0; count < times; count += 1) decisions.push(await subject.limiter.hit(client, under));
      return decisions;
    }

    it('applies the limit that is given with each request', async () => {
      const wide: RateLimit = { requests: 25, windowMs: windowMs * 2 };
      const admitted = (await hitTimes('192.0.2.1', 30, wide)).filter((decision) => decision.isAllowed);
      expect(admitted.length).toBe(25);
      expect((await hitTimes('192.0.2.2', 30)).filter((decision) => decision.isAllowed).length).toBe(10);
      subject.advance(windowMs);
      expect((await hitTimes('192.0.2.1', 1, wide))[0]?.isAllowed).toBe(false);
      expect((await hitTimes('192.0.2.2', 1))[0]?.isAllowed).toBe(true);
    });

    it('admits exactly the limit to requests that arrive together', async () => {
      const decisions = await Promise.all(Array.from({ length: 50 }, () => subject.limiter.hit('192.0.2.1', limit)));
      expect(decisions.filter((decision) => decision.isAllowed).length).toBe(10);
    });

    it('decides every sequence of requests like a plain list of times', async () => {
      const steps = fc.array(
        fc.record({
          client: fc.constantFrom('192.0.2.1', '192.0.2.2', '2001:db8::/64'),
          requests: fc.integer({ min: 1, max: 6 }),
          thenMs: fc.integer({ min: 0, max: Math.floor(windowMs / 2) }),
        }),
        { maxLength: 40 },
      );
      let run = 0;
      await fc.assert(
        fc.asyncProperty(steps, async (sequence) => {
          run += 1;
          const admitted = new Map<string, number[]>();
          let nowMs = 0;
          for (const { client, requests, thenMs } of sequence) {
            const times = admitted.get(client) ?? [];
            admitted.set(client, times);
            for (let count = 0; count < requests; count += 1) {
              const recent = times.filter((time) => nowMs - time < windowMs);
              const decision = await subject.limiter.hit(`${client} run ${run}`, limit);
              expect(decision.isAllowed).toBe(recent.length < limit.requests);
              if (decision.isAllowed) times.push(nowMs);
              expect(decision.remaining).toBe(Math.max(0, limit.requests - recent.length - 1));
              expect(decision.resetMs).toBe((recent[0] ?? nowMs) + windowMs - nowMs);
            }
            subject.advance(thenMs);
            nowMs += thenMs;
          }
        }),
        { numRuns: runsOf(200) },
      );
    });
  });
}
