import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { startTestApp, type TestApp } from './app.ts';
import { createManualClock } from './clock.ts';
import type { InProcessResponse } from './in-process.ts';

/* Instances in this process that share a real Redis. */

/** The rules of a command's time-out. */
const STEP_MS = 10;
const REST_MS = 1_000;

/** A clock that gives commands unlimited time, or none. */
export function createRedisClock() {
  const clock = createManualClock();
  const waiting = new Set<() => void>();
  let isRedisLate = false;
  let rounds = 0;

  return {
    ...clock,
    after(ms: number, callback: () => void) {
      if (ms !== STEP_MS) return clock.after(ms, callback);
      const run = () => {
        if (waiting.delete(run)) callback();
      };
      if (waiting.size === 0) rounds += 1;
      waiting.add(run);
      if (isRedisLate) setImmediate(run);
      return () => void waiting.delete(run);
    },
    /** From now on, commands time out as soon as this process has read all received replies. */
    letCommandsTimeOut() {
      isRedisLate = true;
      for (const run of waiting) setImmediate(run);
    },
    giveCommandsTime() {
      isRedisLate = false;
    },
    /** How often the service waited for Redis. Commands that are sent together count once. */
    rounds: () => rounds,
  };
}

export type RedisClock = ReturnType<typeof createRedisClock>;
export type Instance = Awaited<ReturnType<typeof startInstance>>;

/** An instance with its own clock. Redis may not run yet. Its clock cannot be moved, so the windows are an hour long. */
export async function startInstance(url: string, env: Record<string, string> = {}, clock = createRedisClock()) {
  const lines: { readonly level: number; readonly msg: string; readonly part?: string }[] = [];
  const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const instance = await startTestApp({
    clock,
    logger,
    env: { REDIS_URL: url, RATE_LIMIT: '10/3600', RATE_LIMIT_OVERRIDES: '', ...env },
  });
  onTestFinished(() => instance.close());
  return { ...instance, clock, lines };
}

/** An instance that uses Redis. */
export async function startConnected(...options: Parameters<typeof startInstance>): Promise<Instance> {
  const instance = await startInstance(...options);
  expect(await instance.metric('pennant_redis_usable')).toBe(1);
  return instance;
}

/** Moves the clock beyond the pause after a failure, and waits until Redis is used again. */
export async function reconnect(instance: TestApp): Promise<void> {
  instance.clock.advance(REST_MS);
  await expect.poll(() => instance.metric('pennant_redis_usable')).toBe(1);
}

export function statuses(answers: readonly InProcessResponse[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
