import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answerWithin, RedisTimeout } from './answer-within.ts';

test('an answer in time is the answer, and a failure the failure', async () => {
  expect(await answerWithin(nextTurn('answer'), 40)).toBe('answer');
  await expect(answerWithin(Promise.reject(new Error('refused')), 40)).rejects.toThrow('refused');
});

test('no answer in time is a time-out', async () => {
  await expect(answerWithin(new Promise(() => undefined), 40)).rejects.toBeInstanceOf(RedisTimeout);
});

test('an answer that came while the process was busy is no time-out', async () => {
  const answer = answerWithin(sleep(20, 'answer'), 40);
  const busyUntil = performance.now() + 200;
  while (performance.now() < busyUntil);
  expect(await answer).toBe('answer');
});
