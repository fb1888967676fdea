import { expect, test } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import { createPurges } from './purges.ts';
import type { Stores } from './stores.ts';
import { STORE_READ_MS } from './stores.ts';

test('a store that does not respond does not prevent the start', async () => {
  const clock = createManualClock();
  const backingStore = { readEpoch: () => new Promise<never>(() => undefined) };
  const stores = { backingStore, caches: {}, images: {} } as unknown as Stores;
  const purges = createPurges({ blockedChannels: [] }, createTestRuntime({ clock }), stores, undefined);
  let hasStarted = false;
  const starting = purges.start().then(() => {
    hasStarted = true;
  });
  await clock.advance(STORE_READ_MS - 1);
  expect(hasStarted).toBe(false);
  await clock.advance(1);
  await starting;
});
