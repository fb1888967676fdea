import { Counter, Gauge, type Registry } from '@prometheus-io/client';

/** The buckets of every histogram of times, in seconds, up to the longest time of a request. */
export const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12];

/** The current value of one series. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
  /** The name of the metric, with the suffix `_bucket`, `_sum` or `_count` in a histogram. */
  readonly metricName?: string;
}

/** The current values of one metric. The list is empty if there is no such metric. */
export async function readSamples(metrics: Registry, name: string): Promise<readonly Sample[]> {
  return (await metrics.getSingleMetric(name)?.get())?.values ?? [];
}

/** The current and maximum content of a cache, a map or a queue. Members that do not apply are absent. */
export interface BoundedStats {
  readonly entries?: number;
  readonly maxEntries?: number;
  /** The size of everything: keys, values and the overhead of each entry. */
  readonly bytes?: number;
  readonly maxBytes?: number;
}

/** Units come last in a name: prometheus.io/docs/practices/naming (seen 2026-11). */
const BOUND_GAUGES = [
  ['entries', 'entries', 'Entries'],
  ['maxEntries', 'max_entries', 'Largest number of entries'],
  ['bytes', 'bytes', 'Bytes'],
  ['maxBytes', 'max_bytes', 'Largest number of bytes'],
] as const;

/**
 * Adds a gauge for each figure of something bounded: `{name}_entries`, `{name}_max_entries`, `{name}_bytes`, `{name}_max_bytes`.
 *
 * @param read always returns the same members
 */
export function addBoundGauges(metrics: Registry, name: string, what: string, read: () => BoundedStats): void {
  for (const [figure, suffix, help] of BOUND_GAUGES) {
    if (read()[figure] === undefined) continue;
    addGauge(metrics, `${name}_${suffix}`, `${help}: ${what}.`, () => read()[figure] ?? 0);
  }
}

/** Adds a gauge whose value is read at each scrape. */
export function addGauge(metrics: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [metrics],
    collect() {
      this.set(read());
    },
  });
}

/** Adds a counter of something that is counted elsewhere. */
export function addCounter(metrics: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [metrics],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
