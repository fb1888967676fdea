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

/** A counter that its owner increments. */
export interface Counter<Label extends string> extends Metric {
  /** Adds 1 or `by`. 0 creates the series, for alerts on its increase. */
  inc(labels: LabelsOf<Label>, by?: number): void;
}

/** A histogram to which its owner adds observations. */
export interface Histogram<Label extends string> extends Metric {
  /** Creates a series. */
  begin(labels: LabelsOf<Label>): void;
  observe(labels: LabelsOf<Label>, value: number): void;
}

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12];

export function createCounter<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
): Counter<Label> {
  const series = createSeries(labelNames, () => ({ value: 0 }));
  return {
    name,
    help,
    type: 'counter',
    inc(labels, by = 1) {
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
): Histogram<Label> {
  const series = createSeries(labelNames, () => ({
    counts: new Array<number>(upperBounds.length + 1).fill(0),
    sum: 0,
  }));
  return {
    name,
    help,
    type: 'histogram',
    begin: (labels) => void series.find(labels),
    observe(labels, value) {
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
