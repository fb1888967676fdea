import {
  type Counter,
  createCounter,
  createHistogram,
  type Histogram,
  type Metric,
  type Sample,
  writeText,
} from './series.ts';

/** A metric that is read when it is scraped: one value, one for each value of its label, or samples with several labels. */
export interface ScrapedMetric {
  readonly name: string;
  readonly help: string;
  /** Default: `kind`. */
  readonly label?: string;
  read(): number | Readonly<Record<string, number>> | readonly Sample[];
}

/**
 * All metrics of a service. Each component adds its own. What happens is counted while it happens; sizes and states are
 * read when they are scraped. Names and units by prometheus.io/docs/practices/naming (seen 2026-11). Adding a second metric
 * of a name throws an `Error`.
 */
export interface Metrics {
  /** @param labelNames of the label values that are passed to `inc`; each needs a bounded set of values */
  createCounter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label>;
  /** For times in seconds, with buckets from 1 ms to 12 s. */
  createHistogram<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Histogram<Label>;
  addGauge(gauge: ScrapedMetric): void;
  addSummary(summary: ScrapedMetric): void;
  /** For values that only grow since start. */
  addCounter(counter: ScrapedMetric): void;
  /** Stored values that a component could not use. */
  readonly refusedValues: Counter<'kind'>;
  /** The current values of one metric. None if there is no such metric. */
  samples(name: string): readonly Sample[];
  /** All metrics in Prometheus's text format. */
  text(): string;
}

const isSamples = (values: ReturnType<ScrapedMetric['read']>): values is readonly Sample[] => Array.isArray(values);

export function createMetrics(): Metrics {
  const all = new Map<string, Metric>();

  function add<Added extends Metric>(metric: Added): Added {
    if (all.has(metric.name)) throw new Error(`A metric named "${metric.name}" already exists.`);
    all.set(metric.name, metric);
    return metric;
  }

  function addScraped(type: Metric['type'], { name, help, label = 'kind', read }: ScrapedMetric): void {
    function samples(): readonly Sample[] {
      const values = read();
      if (isSamples(values)) return values;
      if (typeof values === 'number') return [{ labels: {}, value: values }];
      return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));
    }
    add({ name, help, type, samples });
  }

  return {
    createCounter: (name, help, labelNames) => add(createCounter(name, help, labelNames)),
    createHistogram: (name, help, labelNames) => add(createHistogram(name, help, labelNames)),
    addGauge: (gauge) => addScraped('gauge', gauge),
    addSummary: (summary) => addScraped('summary', summary),
    addCounter: (counter) => addScraped('counter', counter),
    refusedValues: add(
      createCounter(
        'pennant_stored_values_refused_total',
        'Stored values that were damaged or written by another program, and counted as absent.',
        ['kind'],
      ),
    ),
    samples: (name) => all.get(name)?.samples() ?? [],
    text: () => writeText([...all.values()]),
  };
}
