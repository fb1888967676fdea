import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { createMetrics } from './metrics/metrics.ts';
import { addProcessGauges } from './process-gauges.ts';

vi.mock('node:perf_hooks');

test('the delay of the event loop is without the time between two samples, which Node includes', () => {
  const percentiles: Record<number, number> = { 50: 20_135_935, 99: 70_000_000 };
  const histogram = { enable: () => true, reset: () => undefined, percentile: (at: number) => percentiles[at] ?? 0 };
  vi.mocked(monitorEventLoopDelay).mockReturnValue(histogram as unknown as ReturnType<typeof monitorEventLoopDelay>);
  const metrics = createMetrics();
  addProcessGauges(metrics);
  const read = () => metrics.samples('pennant_event_loop_delay_seconds').map(({ value }) => value);
  expect(read()).toEqual([expect.closeTo(0.000_136, 6), expect.closeTo(0.05, 6)]);
  // Without a sample since the last scrape.
  percentiles[50] = 0;
  percentiles[99] = 0;
  expect(read()).toEqual([0, 0]);
});
