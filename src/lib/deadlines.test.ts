import { expect, it } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { withinMs } from './deadlines.ts';

it.each([0, -3_500, 1_000])('work that fails after its %i ms is no unhandled rejection', async (ms) => {
  const clock = createManualClock();
  const work = Promise.withResolvers<string>();
  const waiting = withinMs(clock, work.promise, ms);
  clock.advance(1_000);
  expect(await waiting).toBeUndefined();
  // Vitest reports unhandled rejections.
  work.reject(new Error('late'));
});
