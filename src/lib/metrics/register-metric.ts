import type { MetricObject, Registry } from 'prom-client';

/** One line of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Where it differs from the metric's: `…_bucket`. */
  readonly metricName?: string;
}

/** Adds a metric of any type whose samples are read at a scrape. */
export function registerMetric(
  registry: Registry,
  name: string,
  type: 'counter' | 'histogram' | 'summary',
  help: string,
  read: () => Sample[],
): void {
  const metric = {
    name,
    help,
    aggregator: 'sum',
    get: async () => ({ name, help, type, aggregator: 'sum', values: read() }) as unknown as MetricObject,
    reset: () => undefined,
  };
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
}
