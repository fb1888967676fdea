import { beforeEach, expect, it } from 'vitest';
import { numberedChannelId } from '../../test/helpers/fake-source.ts';
import { createTestRuntime } from '../../test/helpers/runtime.ts';
import type { Channel } from '../domain/channel.ts';
import { publishedKey } from '../store/keys.ts';
import { createExactPublishDates } from './exact-publish-dates.ts';

const CHANNEL_ID = numberedChannelId(1);
const KEY = publishedKey(CHANNEL_ID);
const EXACT = '2011-03-04T05:06:07Z';
const DAY = '2011-03-04T00:00:00Z';
const YEAR_MS = 365 * 86_400_000;

const runtime = createTestRuntime();
let stored: Map<string, { value: string; ttlMs: number }>;
let find: () => Promise<string | null>;
let finds: number;
let found: string[];

beforeEach(() => {
  stored = new Map();
  find = async () => EXACT;
  finds = 0;
  found = [];
});

/** The date in the first response. Also waits for the background work. */
async function complete(publishedAt: string | null): Promise<string | null> {
  const times = createExactPublishDates({
    store: {
      async get(key) {
        const entry = stored.get(key);
        return entry && { value: entry.value, storedAtMs: 0 };
      },
      set: async (key, { value }, ttlMs) => void stored.set(key, { value, ttlMs }),
      close: async () => undefined,
    },
    runtime,
    sources: {
      findPublishedAt() {
        finds += 1;
        return find();
      },
    },
  });
  const channel = { channelId: CHANNEL_ID, publishedAt } as Channel;
  const completed = await times.complete(channel, async (exact) => void found.push(exact));
  await new Promise((resolve) => setImmediate(resolve));
  return completed.publishedAt;
}

it.each([DAY, null])('a record with %s gets the exact time after the response, and keeps it', async (known) => {
  expect(await complete(known)).toBe(known);
  expect(found).toEqual([EXACT]);
  expect(stored.get(KEY)?.value).toBe(EXACT);
  expect(stored.get(KEY)?.ttlMs).toBeGreaterThanOrEqual(50 * YEAR_MS);
  expect(await complete(known)).toBe(EXACT);
  expect(finds).toBe(1);
});

it('a record with an exact time causes no request', async () => {
  expect(await complete('2011-03-04T05:06:08Z')).toBe('2011-03-04T05:06:08Z');
  expect([finds, stored.size]).toEqual([0, 0]);
});

it('nothing is stored when no source knows the time, or the request fails', async () => {
  find = async () => null;
  await complete(DAY);
  find = () => Promise.reject(new Error('oops'));
  await complete(DAY);
  expect([finds, stored.size, found.length]).toEqual([2, 0, 0]);
});

it('an invalid stored time is reported and loaded again', async () => {
  stored.set(KEY, { value: 'yesterday', ttlMs: 1 });
  expect(await complete(DAY)).toBe(DAY);
  expect(found).toEqual([EXACT]);
  expect(await runtime.metrics.metrics()).toContain('pennant_stored_values_refused_total{kind="published"} 1');
});
