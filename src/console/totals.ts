import type { Metrics, Sample } from '../lib/metrics/metrics.ts';

/** The counters since start, grouped for the console. */
export interface Totals {
  readonly atMs: number;
  readonly requests: Readonly<Record<RequestOutcome, number>>;
  readonly latency: Buckets;
  readonly lookups: Readonly<Record<LookupKind, Readonly<Record<string, number>>>>;
  readonly encoding: Buckets;
  readonly waiting: Buckets;
  /** Calls by upstream and outcome. */
  readonly sources: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** For each field of upstream responses, how often it was found and how often not. */
  readonly fields: readonly FieldTotals[];
}

/** The name of the image hosts among the upstreams. */
const IMAGE_HOSTS = 'image hosts';

export const REQUEST_OUTCOMES = ['answered', 'unchanged', 'mistaken', 'refused', 'failed'] as const;
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

export const LOOKUP_KINDS = ['records', 'pictures', 'searches'] as const;
export type LookupKind = (typeof LOOKUP_KINDS)[number];

export interface FieldTotals {
  readonly source: string;
  readonly field: string;
  readonly found: number;
  readonly missing: number;
}

/** The same counts as in `/metrics`. */
export type CountedMetrics = Pick<
  Metrics,
  | 'requests'
  | 'requestSeconds'
  | 'lookups'
  | 'encoderSeconds'
  | 'encoderWaitSeconds'
  | 'sourceCalls'
  | 'imageHostCalls'
  | 'sourceFields'
>;

export function readTotals(metrics: CountedMetrics, nowMs: number): Totals {
  const isEncode = ({ labels }: Sample) => labels.task === 'encode';
  return {
    atMs: nowMs,
    requests: requestTotals(metrics.requests.samples()),
    latency: bucketsOf(metrics.requestSeconds.samples()),
    lookups: lookupTotals(metrics.lookups.samples()),
    encoding: bucketsOf(metrics.encoderSeconds.samples().filter(isEncode)),
    waiting: bucketsOf(metrics.encoderWaitSeconds.samples().filter(isEncode)),
    sources: {
      ...sumBy(metrics.sourceCalls.samples(), ({ source }) => String(source)),
      ...sumBy(metrics.imageHostCalls.samples(), () => IMAGE_HOSTS),
    },
    fields: fieldTotals(metrics.sourceFields.samples()),
  };
}

function requestTotals(values: readonly Sample[]): Record<RequestOutcome, number> {
  const totals = { answered: 0, unchanged: 0, mistaken: 0, refused: 0, failed: 0 };
  for (const { labels, value } of values) totals[requestOutcome(Number(labels.status))] += value;
  return totals;
}

function requestOutcome(status: number): RequestOutcome {
  if (status === 304) return 'unchanged';
  if (status === 429) return 'refused';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'mistaken' : 'answered';
}

function lookupTotals(values: readonly Sample[]): Record<LookupKind, Record<string, number>> {
  const totals: Record<LookupKind, Record<string, number>> = { records: {}, pictures: {}, searches: {} };
  for (const { labels, value } of values) {
    const kind = totals[lookupKind(String(labels.route))];
    const outcome = String(labels.outcome);
    kind[outcome] = (kind[outcome] ?? 0) + value;
  }
  return totals;
}

const RECORD_ROUTE = /^\/(?:api\/)?(?:channel|c|user)\//;

function lookupKind(route: string): LookupKind {
  if (route === '/api/search') return 'searches';
  return RECORD_ROUTE.test(route) ? 'records' : 'pictures';
}

/** Sums the values of each group by outcome. */
function sumBy(
  values: readonly Sample[],
  groupOf: (labels: Sample['labels']) => string,
): Record<string, Record<string, number>> {
  const sums: Record<string, Record<string, number>> = {};
  for (const { labels, value } of values) {
    const group = groupOf(labels);
    const outcome = String(labels.outcome);
    sums[group] = { ...sums[group], [outcome]: (sums[group]?.[outcome] ?? 0) + value };
  }
  return sums;
}

/** Sums all label sets, and converts Prometheus's cumulative counts to counts of single buckets. */
function bucketsOf(values: readonly Sample[]): Buckets {
  const byBound = new Map<number, number>();
  for (const { labels, value, suffix } of values) {
    if (suffix !== '_bucket') continue;
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
    byBound.set(bound, (byBound.get(bound) ?? 0) + value);
  }
  const upperBounds = [...byBound.keys()].sort((a, b) => a - b);
  const cumulative = upperBounds.map((bound) => byBound.get(bound) ?? 0);
  return { upperBounds, counts: cumulative.map((count, at) => count - (cumulative[at - 1] ?? 0)) };
}

function fieldTotals(values: readonly Sample[]): FieldTotals[] {
  const totals = new Map<string, { source: string; field: string; found: number; missing: number }>();
  for (const { labels, value } of values) {
    const source = String(labels.source);
    const field = String(labels.field);
    const total = totals.get(`${source} ${field}`) ?? { source, field, found: 0, missing: 0 };
    total[labels.path === 'none' ? 'missing' : 'found'] += value;
    totals.set(`${source} ${field}`, total);
  }
  return [...totals.values()];
}

/** A histogram: how many observations were between each upper bound and the one before. The last bound is infinite. */
export interface Buckets {
  readonly upperBounds: readonly number[];
  readonly counts: readonly number[];
}

/** The observations since `earlier`. */
export function bucketsSince(now: Buckets, earlier: Buckets): Buckets {
  return {
    upperBounds: now.upperBounds,
    counts: now.counts.map((count, at) => count - (earlier.counts[at] ?? 0)),
  };
}

/**
 * The value that the given share of observations does not exceed, like Prometheus's `histogram_quantile`: values are
 * assumed to be spread evenly in a bucket, and values above the last finite bound count as that bound.
 *
 * @returns `null` without observations
 */
export function quantile({ upperBounds, counts }: Buckets, share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  let lower = 0;
  for (const [at, count] of counts.entries()) {
    const upper = upperBounds[at] ?? Number.POSITIVE_INFINITY;
    if (!Number.isFinite(upper)) return lower;
    if (count > 0 && below + count >= rank) return lower + ((upper - lower) * (rank - below)) / count;
    below += count;
    lower = upper;
  }
  return lower;
}
