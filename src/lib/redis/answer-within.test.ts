import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import type { Clock } from '../clock.ts';
import { answerWithin, RedisTimeout } from './connection.ts';

/** A clock whose timers run only when the test says so, each once, however much time has passed. */
function createLateClock(): Clock & { runTimers(): void } {
  let timers: (() => void)[] = [];
  return {
    now: () => 0,
    monotonic: () => 0,
    after(_ms, callback) {
      timers.push(callback);
      return () => {
        timers = timers.filter((timer) => timer !== callback);
      };
    },
    runTimers() {
      const due = timers;
      timers = [];
      for (const callback of due) callback();
    },
  };
}

describe('answerWithin', () => {
  test('returns an answer and throws a failure', async () => {
    const clock = createManualClock();
    expect(await answerWithin(clock, Promise.resolve('answer'), 40)).toBe('answer');
    await expect(answerWithin(clock, Promise.reject(new Error('refused')), 40)).rejects.toThrow('refused');
  });

  test('waits for exactly the given time', async () => {
    const clock = createManualClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    const inTime = answerWithin(clock, promise, 40);
    const late = answerWithin(clock, new Promise(() => undefined), 40);
    clock.advance(39);
    resolve('answer');
    expect(await inTime).toBe('answer');
    clock.advance(1);
    await expect(late).rejects.toBeInstanceOf(RedisTimeout);
  });

  test('counts a pause of the process as one of four steps', async () => {
    const clock = createLateClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    const answer = answerWithin(clock, promise, 40);
    for (let pause = 0; pause < 3; pause += 1) clock.runTimers();
    resolve('answer');
    expect(await answer).toBe('answer');

    const late = answerWithin(clock, new Promise(() => undefined), 40);
    for (let pause = 0; pause < 4; pause += 1) clock.runTimers();
    await expect(late).rejects.toThrow('no answer within 40 ms');
  });
});
