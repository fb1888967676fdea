/** One line of a metric in Prometheus's text format. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** What follows the metric's name: `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string;
}

type Labels = Readonly<Record<string, string | number>>;

/** A metric is counted once, and viewed as text (`/metrics`) or as values (the console). */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  samples(): readonly Sample[];
}

export interface Counter<Label extends string> extends Metric {
  /** Adds 1 or `by`; 0 makes the series begin, for alerts on its increase. */
  inc(labels: Readonly<Record<Label, string | number>>, by?: number): void;
}

export interface Histogram<Label extends string> extends Metric {
  observe(labels: Readonly<Record<Label, string | number>>, value: number): void;
  /** Makes a series begin. */
  begin(labels: Readonly<Record<Label, string | number>>): void;
}

/** @param labels in the order in which they are written; each needs a bounded set of values */
export function createCounter<Label extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
): Counter<Label> {
  const series = createSeries(labels, () => ({ value: 0 }));
  return {
    name,
    help,
    type: 'counter',
    inc(of, by = 1) {
      series.find(of).value += by;
    },
    samples: () => series.all().map(({ labels: of, state }) => ({ labels: of, value: state.value })),
  };
}

export function createHistogram<Label extends string>(
  name: string,
  help: string,
  labels: readonly Label[],
  /** Ascending; observations above the last have a bucket of their own. */
  upperBounds: readonly number[],
): Histogram<Label> {
  const series = createSeries(labels, () => ({ counts: new Array<number>(upperBounds.length + 1).fill(0), sum: 0 }));
  return {
    name,
    help,
    type: 'histogram',
    begin: (of) => void series.find(of),
    observe(of, value) {
      const state = series.find(of);
      let bucket = 0;
      while (bucket < upperBounds.length && value > (upperBounds[bucket] as number)) bucket += 1;
      state.counts[bucket] = (state.counts[bucket] as number) + 1;
      state.sum += value;
    },
    samples: () =>
      series.all().flatMap(({ labels: of, state: { counts, sum } }) => {
        let total = 0;
        const buckets = counts.map((count, at): Sample => {
          total += count;
          return { labels: { le: upperBounds[at] ?? '+Inf', ...of }, value: total, suffix: '_bucket' };
        });
        return [...buckets, { labels: of, value: sum, suffix: '_sum' }, { labels: of, value: total, suffix: '_count' }];
      }),
  };
}

type Nested = Map<string | number, unknown>;

/** The states of a metric by the values of its labels, in the order in which they began. */
function createSeries<Label extends string, State>(names: readonly Label[], create: () => State) {
  const all: { readonly labels: Labels; readonly state: State }[] = [];
  const outerNames = names.slice(0, -1);
  const lastName = names.at(-1) as Label;
  const root: Nested = new Map();

  function beginLevel(parent: Nested, value: string | number): Nested {
    const level: Nested = new Map();
    parent.set(value, level);
    return level;
  }

  function begin(parent: Nested, labels: Readonly<Record<Label, string | number>>): State {
    const state = create();
    parent.set(labels[lastName], state);
    all.push({ labels: Object.fromEntries(names.map((name) => [name, labels[name]])), state });
    return state;
  }

  return {
    all: () => all,
    /** A map for each label: joining their values into one key costs a hot response more. */
    find(labels: Readonly<Record<Label, string | number>>): State {
      let level = root;
      for (const name of outerNames) {
        const value = labels[name];
        level = (level.get(value) as Nested | undefined) ?? beginLevel(level, value);
      }
      return (level.get(labels[lastName]) as State | undefined) ?? begin(level, labels);
    },
  };
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
