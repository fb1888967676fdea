import type { Registry } from '@prometheus-io/client';
import { IMAGE_SOURCE } from '../domain/source-status.ts';
import { readSamples, type Sample } from '../lib/metrics.ts';

/** The counters since the start, grouped for the console, which shows how they grow. */
export interface Totals {
  readonly requests: Readonly<Record<RequestOutcome, number>>;
  readonly latency: Buckets;
  /** By kind and outcome. */
  readonly lookups: Readonly<Record<LookupKind, Outcomes>>;
  readonly encoding: Buckets;
  readonly waiting: Buckets;
  /** Lookups at each source, and downloads, by outcome. */
  readonly sources: Readonly<Record<string, Outcomes>>;
}

type RequestOutcome = keyof typeof NO_REQUESTS;
type LookupKind = keyof typeof NO_LOOKUPS;
type Outcomes = Readonly<Record<string, number>>;

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
    requests: { ...NO_REQUESTS, ...sumBy(requests, ({ status }) => requestOutcome(Number(status))) },
    latency: bucketsOf(latency),
    lookups: { ...NO_LOOKUPS, ...outcomesBy(lookups, ({ route }) => lookupKind(String(route))) },
    encoding: bucketsOf(encoding.filter(isEncode)),
    waiting: bucketsOf(waiting.filter(isEncode)),
    sources: {
      ...outcomesBy(calls, ({ source }) => String(source)),
      ...outcomesBy(downloads, () => IMAGE_SOURCE),
    },
  };
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

function sumBy(samples: readonly Sample[], nameOf: (labels: Sample['labels']) => string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { labels, value } of samples) sums[nameOf(labels)] = (sums[nameOf(labels)] ?? 0) + value;
  return sums;
}

/** Sums each group by the label `outcome`. */
function outcomesBy(samples: readonly Sample[], groupOf: (labels: Sample['labels']) => string) {
  const groups = [...Map.groupBy(samples, ({ labels }) => groupOf(labels))];
  return Object.fromEntries(
    groups.map(([group, members]) => [group, sumBy(members, ({ outcome }) => String(outcome))]),
  );
}

/** A histogram as in Prometheus: the number of observations up to each upper bound. The last bound is `+Inf`. */
type Buckets = Readonly<Record<string, number>>;

/** Sums all label sets. */
function bucketsOf(samples: readonly Sample[]): Buckets {
  const buckets = samples.filter(({ metricName }) => metricName?.endsWith('_bucket'));
  return sumBy(buckets, ({ le }) => String(le));
}
