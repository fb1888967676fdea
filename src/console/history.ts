import type { Registry } from '@prometheus-io/client';
import { IMAGE_SOURCE } from '../domain/source-status.ts';
import { readSamples, type Sample } from '../lib/metrics.ts';

/** The counters since the start, grouped for the console. */
interface Totals {
  readonly requests: Readonly<Record<RequestOutcome, number>>;
  readonly latency: Buckets;
  /** By kind and outcome. */
  readonly lookups: Readonly<Record<LookupKind, Outcomes>>;
  readonly encoding: Buckets;
  readonly waiting: Buckets;
  /** Calls by upstream and outcome. */
  readonly sources: Readonly<Record<string, Outcomes>>;
}

/** In seconds; `null` without observations. */
interface Quantiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

/** What happened between two samples. */
export interface HistoryStep {
  readonly requests: Totals['requests'];
  readonly latencySeconds: Quantiles;
  /** Images that wait for an encoder at the end of the step. */
  readonly queued: number;
}

/** What happened in the last 15 minutes, or since the start. */
export interface RecentActivity extends Pick<Totals, 'requests' | 'lookups' | 'sources'> {
  readonly seconds: number;
  readonly latencySeconds: Quantiles;
  readonly encodingSeconds: Quantiles;
  readonly waitingSeconds: Quantiles;
  /** Images. */
  readonly encoded: number;
}

export interface History {
  /** Always the same number, oldest first. Nothing happened in those before the start. */
  readonly steps: () => readonly HistoryStep[];
  readonly recent: (now: HistorySample) => RecentActivity;
  readonly stop: () => void;
}

interface HistorySample {
  readonly atMs: number;
  readonly totals: Totals;
  /** Images that wait for an encoder. */
  readonly queued: number;
}

type RequestOutcome = keyof typeof NO_REQUESTS;
type LookupKind = keyof typeof NO_LOOKUPS;
type Outcomes = Readonly<Record<string, number>>;

export const STEP_SECONDS = 5;
const KEPT_STEPS = 180;

/** Samples the counters every five seconds and keeps 15 minutes. */
export async function startHistory(read: () => Promise<HistorySample>): Promise<History> {
  let oldest = await read();
  const later = new Array<HistorySample>(KEPT_STEPS).fill(oldest);

  async function sample(): Promise<void> {
    later.push(await read());
    oldest = later.shift() as HistorySample;
  }

  const timer = setInterval(() => void sample(), STEP_SECONDS * 1_000);
  timer.unref();

  return {
    steps() {
      return later.map(({ totals, queued }, at) => {
        const { requests, latency } = growthSince(totals, (later[at - 1] ?? oldest).totals);
        return { requests, latencySeconds: quantiles(latency), queued };
      });
    },

    recent({ atMs, totals }) {
      const { requests, latency, lookups, encoding, waiting, sources } = growthSince(totals, oldest.totals);
      return {
        seconds: Math.max(1, Math.round((atMs - oldest.atMs) / 1000)),
        requests,
        latencySeconds: quantiles(latency),
        lookups,
        encodingSeconds: quantiles(encoding),
        waitingSeconds: quantiles(waiting),
        encoded: encoding['+Inf'] ?? 0,
        sources,
      };
    },

    stop: () => clearInterval(timer),
  };
}

function quantiles(buckets: Buckets): Quantiles {
  return { p50: quantile(buckets, 0.5), p95: quantile(buckets, 0.95), p99: quantile(buckets, 0.99) };
}

const NO_REQUESTS = { responded: 0, unchanged: 0, clientError: 0, refused: 0, failed: 0 };
const NO_LOOKUPS = { records: {}, images: {}, searches: {} };

/** Reads the counters of `/metrics`. */
export async function readTotals(metrics: Registry): Promise<Totals> {
  const isEncode = ({ labels }: Sample) => labels.task === 'encode';
  const [requests, latency, lookups, encoding, waiting, calls, downloads] = await Promise.all([
    readSamples(metrics, 'pennant_http_requests_total'),
    readSamples(metrics, 'pennant_http_request_duration_seconds'),
    readSamples(metrics, 'pennant_cache_lookups_total'),
    readSamples(metrics, 'pennant_encoder_task_duration_seconds'),
    readSamples(metrics, 'pennant_encoder_wait_duration_seconds'),
    readSamples(metrics, 'pennant_source_calls_total'),
    readSamples(metrics, 'pennant_image_host_calls_total'),
  ]);
  return {
    requests: {
      ...NO_REQUESTS,
      ...sumBy(requests, ({ status }) => requestOutcome(Number(status))),
    },
    latency: bucketsOf(latency),
    lookups: {
      ...NO_LOOKUPS,
      ...outcomesBy(lookups, ({ route }) => lookupKind(String(route))),
    },
    encoding: bucketsOf(encoding.filter(isEncode)),
    waiting: bucketsOf(waiting.filter(isEncode)),
    sources: {
      ...outcomesBy(calls, ({ source }) => String(source)),
      ...outcomesBy(downloads, () => IMAGE_SOURCE),
    },
  };
}

/** How often a field was found in upstream responses, and how often not, since the start. */
export interface FieldCounts {
  readonly source: string;
  readonly field: string;
  readonly found: number;
  readonly missing: number;
}

export async function readFields(metrics: Registry): Promise<FieldCounts[]> {
  const samples = await readSamples(metrics, 'pennant_source_fields_total');
  const byField = Map.groupBy(samples, ({ labels }) => `${labels.source} ${labels.field}`);
  return [...byField.values()].map((ofField) => ({
    source: String(ofField[0]?.labels.source),
    field: String(ofField[0]?.labels.field),
    found: 0,
    missing: 0,
    ...sumBy(ofField, ({ path }) => (path === 'none' ? 'missing' : 'found')),
  }));
}

function requestOutcome(status: number): RequestOutcome {
  if (status === 304) return 'unchanged';
  if (status === 429) return 'refused';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'clientError' : 'responded';
}

/** Badges and batches look up records, too. */
const RECORD_ROUTE = /^\/(?:(?:api\/)?(?:channel|c|user)|api\/badge|youtube\/channel)\/|^\/api\/channels$/;

function lookupKind(route: string): LookupKind {
  if (route === '/api/search') return 'searches';
  return RECORD_ROUTE.test(route) ? 'records' : 'images';
}

function sumBy<Name extends string>(
  samples: readonly Sample[],
  nameOf: (labels: Sample['labels']) => Name,
): Partial<Record<Name, number>> {
  const sums: Partial<Record<Name, number>> = {};
  for (const { labels, value } of samples) sums[nameOf(labels)] = (sums[nameOf(labels)] ?? 0) + value;
  return sums;
}

/** Sums each group by the label `outcome`. */
function outcomesBy<Group extends string>(
  samples: readonly Sample[],
  groupOf: (labels: Sample['labels']) => Group,
): Record<Group, Record<string, number>> {
  const groups = [...Map.groupBy(samples, ({ labels }) => groupOf(labels))];
  const sums = groups.map(([group, members]) => [group, sumBy(members, ({ outcome }) => String(outcome))]);
  return Object.fromEntries(sums) as Record<Group, Record<string, number>>;
}

/** A histogram as in Prometheus: the number of observations up to each upper bound. The last bound is `+Inf`. */
type Buckets = Readonly<Record<string, number>>;

/** Sums all label sets. */
function bucketsOf(samples: readonly Sample[]): Buckets {
  const buckets = samples.filter(({ metricName }) => metricName?.endsWith('_bucket'));
  return sumBy(buckets, ({ le }) => String(le)) as Buckets;
}

interface Counts {
  readonly [name: string]: number | Counts;
}

/** The growth of every counter since `earlier`, in the same structure. A counter that is new has grown from 0. */
export function growthSince<Kind extends object>(now: Kind, earlier: object = {}): Kind {
  const before = earlier as Counts;
  const grown = Object.entries(now as Counts).map(([name, count]) => {
    const former = before[name];
    return [name, typeof count === 'number' ? count - Number(former ?? 0) : growthSince(count, former as Counts)];
  });
  return Object.fromEntries(grown) as Kind;
}

/**
 * The value that the given share of observations does not exceed, like Prometheus's `histogram_quantile`: values are
 * assumed to be spread evenly in a bucket, and values above the last finite bound count as that bound.
 *
 * @returns `null` without observations
 */
export function quantile(buckets: Buckets, share: number): number | null {
  const rank = share * (buckets['+Inf'] ?? 0);
  if (rank === 0) return null;
  const finite = Object.entries(buckets)
    .map(([bound, count]) => ({ bound: Number(bound), count }))
    .filter(({ bound }) => Number.isFinite(bound))
    .sort((a, b) => a.bound - b.bound);
  let lower = { bound: 0, count: 0 };
  for (const upper of finite) {
    if (upper.count >= rank) {
      return lower.bound + ((upper.bound - lower.bound) * (rank - lower.count)) / (upper.count - lower.count);
    }
    lower = upper;
  }
  return lower.bound;
}
