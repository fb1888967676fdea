import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { bytesOf, setUpFileStore } from '../../test/helpers/file-store.ts';
import { systemClock } from '../lib/clock.ts';
import { createDiskUsage } from './disk-usage.ts';
import { createShards } from './shards.ts';

it('leaves no listeners on the signal, because a store scans again after each failure', async () => {
  const { directory, open } = await setUpFileStore();
  const files = open();
  for (const key of ['one', 'two', 'three']) await files.set(key, bytesOf(key), 'plain');
  await files.close();
  const { signal } = new AbortController();
  await createShards(directory, createDiskUsage(1_000_000, 1_000), systemClock).scan(signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
