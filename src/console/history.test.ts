import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createMetrics } from '../lib/metrics/metrics.ts';
import { readTotals, startHistory } from './history.ts';

const STEP_MS = 5_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the history keeps a quarter of an hour, however long the service runs', async () => {
  const metrics = createMetrics();
  const requests = metrics.createCounter('pennant_http_requests_total', '', ['route', 'status']);
  const read = () => ({ atMs: Date.now(), totals: readTotals(metrics), queued: 0 });
  const history = startHistory(() => {
    requests.inc({ route: '/', status: 200 });
    return read();
  });
  await vi.advanceTimersByTimeAsync(1_000 * STEP_MS);
  expect(history.stats()).toEqual({ entries: 181 });
  const steps = history.steps();
  expect(steps).toHaveLength(180);
  expect(steps.map(({ requests }) => requests.responded)).toEqual(steps.map(() => 1));
  expect(history.recent(read()).seconds).toBe(900);
  history.stop();
});
