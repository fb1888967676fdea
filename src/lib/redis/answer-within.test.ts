import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import type { Clock } from '../clock.ts';
import { answerWithin, RedisTimeout } from './connection.ts';

const NEVER = new Promise<never>(() => undefined);

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
    const late = answerWithin(clock, NEVER, 40);
    await setImmediate();
    clock.advance(39);
    resolve('answer');
    expect(await inTime).toBe('answer');
    clock.advance(1);
    await expect(late).rejects.toBeInstanceOf(RedisTimeout);
  });

  test('accepts an answer that is read after the time-out and before the next turn of the event loop', async () => {
    const clock = createManualClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    const answer = answerWithin(clock, promise, 40);
    await setImmediate();
    clock.advance(40);
    resolve('answer');
    expect(await answer).toBe('answer');
  });

  test('counts a pause of the process as one of four steps', async () => {
    // Its timers run only when the test says so, each once, however much time has passed.
    let timers: (() => void)[] = [];
    const clock: Clock = {
      ...createManualClock(),
      after(_ms, callback) {
        timers.push(callback);
        return () => {
          timers = timers.filter((timer) => timer !== callback);
        };
      },
    };
    const endPause = () => {
      for (const callback of timers.splice(0)) callback();
    };
    const { promise, resolve } = Promise.withResolvers<string>();
    const answer = answerWithin(clock, promise, 40);
    await setImmediate();
    for (let pause = 0; pause < 3; pause += 1) endPause();
    await setImmediate();
    resolve('answer');
    expect(await answer).toBe('answer');
    await setImmediate();
    expect(timers).toEqual([]);

    const late = answerWithin(clock, NEVER, 40);
    await setImmediate();
    for (let pause = 0; pause < 4; pause += 1) endPause();
    await expect(late).rejects.toThrow('no answer within 40 ms');
  });
});
