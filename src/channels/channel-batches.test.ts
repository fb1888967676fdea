import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from '@prometheus-io/client';
import { expect, test } from 'vitest';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import { channelIdRef } from '../domain/identifier.ts';
import { systemClock } from '../lib/clock.ts';
import { createChannelBatches } from './channel-batches.ts';

/** Requests batches of 50 channels at the same time. No channel exists. */
async function requestBatches(count: number) {
  const lookups = { running: 0, most: 0 };
  async function notFound(): Promise<never> {
    lookups.running += 1;
    lookups.most = Math.max(lookups.most, lookups.running);
    await nextTurn();
    lookups.running -= 1;
    throw new AppError('channel_not_found', 'There is no such channel.');
  }
  const batches = createChannelBatches({
    channels: { peekChannel: notFound, getChannel: notFound },
    clock: systemClock,
    metrics: new Registry(),
  });
  const refs = Array.from({ length: 50 }, (_, number) => channelIdRef(`UC${String(number).padStart(22, '0')}`));
  const results = await Promise.all(Array.from({ length: count }, () => batches.getChannels(refs)));
  return { mostLookups: lookups.most, codes: results.map((batch) => batch.map(errorCodeOf)) };
}

const NOT_FOUND = Array.from({ length: 50 }, () => 'channel_not_found');

test('a batch looks up a few channels at a time', async () => {
  expect(await requestBatches(1)).toEqual({ mostLookups: 5, codes: [NOT_FOUND] });
});

test('many batches leave room for other lookups: what is over the bound is an error, and is not looked up', async () => {
  const { mostLookups, codes } = await requestBatches(150);
  expect(mostLookups).toBe(500);
  expect(codes.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => NOT_FOUND));
  expect(new Set(codes.slice(100).flat())).toEqual(new Set(['upstream_unavailable']));
});
