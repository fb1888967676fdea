import type { CacheOutcome } from '../../domain/errors.ts';

/** One line of a metric in Prometheus's text format. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** The suffix of the metric's name: `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string;
}

type Labels = Readonly<Record<string, string | number>>;

/** A metric is counted once, and read as text (`/metrics`) or as values (the console). */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  samples(): readonly Sample[];
}

/** Values of the labels, in the order in which they are written; each needs a bounded set of values. */
type LabelsOf<Label extends string> = Readonly<Record<Label, string | number>>;

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12];

export function createCounter<Label extends string>(name: string, help: string, labelNames: readonly Label[]) {
  const series = createSeries(labelNames, () => ({ value: 0 }));
  return {
    name,
    help,
    type: 'counter' as const,
    /** Adds 1 or `by`. 0 creates the series, for alerts on its increase. */
    inc(labels: LabelsOf<Label>, by = 1): void {
      series.find(labels).value += by;
    },
    samples: () => series.all.map(({ labels, state }): Sample => ({ labels, value: state.value })),
  };
}

/** @param upperBounds ascending; observations above the last have a bucket of their own */
export function createHistogram<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  upperBounds: readonly number[] = SECONDS_BUCKETS,
) {
  const series = createSeries(labelNames, () => ({
    counts: new Array<number>(upperBounds.length + 1).fill(0),
    sum: 0,
  }));
  return {
    name,
    help,
    type: 'histogram' as const,
    /** Creates a series. */
    begin: (labels: LabelsOf<Label>) => void series.find(labels),
    observe(labels: LabelsOf<Label>, value: number): void {
      const state = series.find(labels);
      let bucket = 0;
      while (bucket < upperBounds.length && value > (upperBounds[bucket] as number)) bucket += 1;
      state.counts[bucket] = (state.counts[bucket] as number) + 1;
      state.sum += value;
    },
    samples: () =>
      series.all.flatMap(({ labels, state: { counts, sum } }) => {
        let total = 0;
        const buckets = counts.map((count, at): Sample => {
          total += count;
          return { labels: { le: upperBounds[at] ?? '+Inf', ...labels }, value: total, suffix: '_bucket' };
        });
        return [...buckets, { labels, value: sum, suffix: '_sum' }, { labels, value: total, suffix: '_count' }];
      }),
  };
}

type Nested = Map<string | number, unknown>;

/** The states of a metric by the values of its labels, in the order in which they began. */
function createSeries<Label extends string, State>(names: readonly Label[], create: () => State) {
  const all: { readonly labels: Labels; readonly state: State }[] = [];
  const root: Nested = new Map();

  function begin(parent: Nested, labels: LabelsOf<Label>, name: Label): unknown {
    const isLast = name === names.at(-1);
    const state = isLast ? create() : new Map();
    parent.set(labels[name], state);
    if (isLast)
      all.push({ labels: Object.fromEntries(names.map((each) => [each, labels[each]])), state: state as State });
    return state;
  }

  /** A map for each label, because joining the values into one key is slower for a hot response. */
  function find(labels: LabelsOf<Label>): State {
    let found: unknown = root;
    for (const name of names) found = (found as Nested).get(labels[name]) ?? begin(found as Nested, labels, name);
    return found as State;
  }

  return { all, find };
}

export const TEXT_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Prometheus's text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats, seen 2026-11). */
export function writeText(metrics: readonly Metric[]): string {
  return `${metrics.map(writeMetric).join('\n\n')}\n`;
}

function writeMetric(metric: Metric): string {
  const { name, help, type } = metric;
  const lines = metric.samples().map(({ labels, value, suffix = '' }) => {
    return `${name}${suffix}${writeLabels(labels)} ${value === Number.POSITIVE_INFINITY ? '+Inf' : value}`;
  });
  return [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n');
}

function writeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escaped(String(value)).replaceAll('"', '\\"')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** A metric that is read when it is scraped; one value for each value of its label. */
export interface ScrapedMetric {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  read(): number | Readonly<Record<string, number>>;
}

/** Everything that is counted while it happens; sizes and states are read when scraped. */
export type Metrics = ReturnType<typeof createMetrics>;

export interface CountedResponse {
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** The origin of a looked-up value. */
  readonly cache?: string | undefined;
}

/** The statuses that deploy/alerts.yaml uses. */
const STATUSES_FROM_THE_START = [500, 502, 503, 504];
const CACHE_OUTCOMES: readonly CacheOutcome['kind'][] = ['hit', 'miss', 'refreshed', 'stale'];

/** Names and units by prometheus.io/docs/practices/naming (seen 2026-11). */
export function createMetrics() {
  const counted = {
    requests: createCounter('pennant_http_requests_total', 'Replies of the public listener.', ['route', 'status']),
    lookups: createCounter('pennant_cache_lookups_total', 'Looked-up values in responses, by how they came about.', [
      'route',
      'outcome',
    ]),
    requestSeconds: createHistogram(
      'pennant_http_request_duration_seconds',
      'From the request to its response’s hand-over to the socket.',
      ['route'],
    ),
    imageHostCalls: createCounter('pennant_image_host_calls_total', 'Downloads from image hosts, by outcome.', [
      'outcome',
    ]),
    sourceCalls: createCounter('pennant_source_calls_total', 'Calls of a source of channels, by what came of them.', [
      'source',
      'operation',
      'outcome',
    ]),
    sourceSeconds: createHistogram('pennant_source_call_duration_seconds', 'Time of one call of a source.', [
      'source',
      'operation',
    ]),
    sourceFields: createCounter(
      'pennant_source_fields_total',
      'Fields read from upstream responses, by the path that carried them ("none": no path did).',
      ['source', 'field', 'path'],
    ),
    encoderEnds: createCounter('pennant_encoder_processes_ended_total', 'Encoder processes that ended, by reason.', [
      'reason',
    ]),
    refusedValues: createCounter(
      'pennant_stored_values_refused_total',
      'Stored values that were not of our making or damaged, and counted as absent.',
      ['kind'],
    ),
    encoderSeconds: createHistogram(
      'pennant_encoder_task_duration_seconds',
      'Time that an encoder process took for one task.',
      ['task'],
    ),
    encoderWaitSeconds: createHistogram(
      'pennant_encoder_wait_duration_seconds',
      'Time that a task waited for an encoder process.',
      ['task'],
    ),
  };
  const { requests, lookups, requestSeconds } = counted;
  const all: Metric[] = Object.values(counted);
  const routesWithLookups = new Set<string>();

  function addScraped(type: Metric['type'], { name, help, label = 'kind', read }: ScrapedMetric): void {
    function samples(): Sample[] {
      const values = read();
      if (typeof values === 'number') return [{ labels: {}, value: values }];
      return Object.entries(values).map(([key, value]) => ({ labels: { [label]: key }, value }));
    }
    all.push({ name, help, type, samples });
  }

  return {
    ...counted,
    addGauge: (gauge: ScrapedMetric) => addScraped('gauge', gauge),
    addSummary: (summary: ScrapedMetric) => addScraped('summary', summary),
    /** For values that only grow since start. */
    addCounter: (counter: ScrapedMetric) => addScraped('counter', counter),

    /** Creates the series of a route, so that the first failure is an increase. */
    beginRoute(route: string): void {
      for (const status of STATUSES_FROM_THE_START) requests.inc({ route, status }, 0);
      requestSeconds.begin({ route });
    },

    countResponse({ route, status, seconds, cache: outcome }: CountedResponse): void {
      requests.inc({ route, status });
      requestSeconds.observe({ route }, seconds);
      if (outcome === undefined) return;
      if (!routesWithLookups.has(route)) {
        routesWithLookups.add(route);
        for (const each of CACHE_OUTCOMES) lookups.inc({ route, outcome: each }, 0);
      }
      lookups.inc({ route, outcome });
    },

    /** All metrics in Prometheus's text format. */
    text: () => writeText(all),
  };
}
