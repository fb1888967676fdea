import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startHistory } from './history.ts';
import type { Totals } from './totals.ts';

const STEP_MS = 5_000;
const NONE = { upperBounds: [], counts: [] };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function totalsAt(atMs: number): Totals {
  return {
    atMs,
    requests: { answered: atMs, unchanged: 0, mistaken: 0, refused: 0, failed: 0 },
    latency: NONE,
    lookups: { records: {}, pictures: {}, searches: {} },
    encoding: NONE,
    waiting: NONE,
    sources: {},
    fields: [],
  };
}

test('the history keeps a quarter of an hour, however long the service runs', async () => {
  const history = startHistory({
    read: () => totalsAt(Date.now()),
    queued: () => 0,
  });
  await vi.advanceTimersByTimeAsync(1_000 * STEP_MS);
  expect(history.stats()).toEqual({ entries: 181, maxEntries: 181 });
  const steps = history.steps();
  expect(steps).toHaveLength(180);
  expect(steps.map(({ requests }) => requests.answered)).toEqual(steps.map(() => STEP_MS));
  expect(history.recent(totalsAt(Date.now())).seconds).toBe(900);
  history.stop();
});
