import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/helpers/clock.ts';
import { RedisTimeout, replyWithin } from './connection.ts';

const NEVER = new Promise<never>(() => undefined);

describe('replyWithin', () => {
  test('returns a response and throws a failure', async () => {
    const clock = createManualClock();
    expect(await replyWithin(clock, Promise.resolve('response'), 40)).toBe('response');
    await expect(replyWithin(clock, Promise.reject(new Error('refused')), 40)).rejects.toThrow('refused');
  });

  test('waits for exactly the given time', async () => {
    const clock = createManualClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    const inTime = replyWithin(clock, promise, 40);
    const late = replyWithin(clock, NEVER, 40);
    await setImmediate();
    clock.advance(39);
    resolve('response');
    expect(await inTime).toBe('response');
    clock.advance(1);
    await expect(late).rejects.toBeInstanceOf(RedisTimeout);
  });

  test('accepts a response that is read after the time-out and before the next turn of the event loop', async () => {
    const clock = createManualClock();
    const { promise, resolve } = Promise.withResolvers<string>();
    const response = replyWithin(clock, promise, 40);
    await setImmediate();
    clock.advance(40);
    resolve('response');
    expect(await response).toBe('response');
  });
});
