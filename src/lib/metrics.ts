import type { Registry } from '@prometheus-io/client';

/** The buckets of every histogram of times, in seconds, up to the longest time of a request. */
export const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12];

/** The current value of one series. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
  /** The name of the metric, with the suffix `_bucket`, `_sum` or `_count` in a histogram. */
  readonly metricName?: string;
}

/** The current values of one metric. None if there is no such metric. */
export async function readSamples(metrics: Registry, name: string): Promise<readonly Sample[]> {
  return (await metrics.getSingleMetric(name)?.get())?.values ?? [];
}
