import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import { createPurges } from './purges.ts';
import type { Stores } from './stores.ts';

test('a store that does not respond does not prevent the start', async () => {
  const clock = createManualClock();
  const backingStore = { readEpoch: () => new Promise<never>(() => undefined) };
  const stores = { backingStore, caches: {}, images: {} } as unknown as Stores;
  const purges = createPurges({ blockedChannels: [] }, createTestRuntime({ clock }), stores, undefined);
  let hasStarted = false;
  const starting = purges.start().then(() => {
    hasStarted = true;
  });
  await clock.advance(TIME_LIMITS_MS.storeRead - 1);
  expect(hasStarted).toBe(false);
  await clock.advance(1);
  await starting;
});
