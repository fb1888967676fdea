import type { Registry } from 'prom-client';
import type { CacheOutcome } from '../../domain/errors.ts';
import { registerMetric, type Sample } from './register-metric.ts';

/**
 * Answers by route and status, and their times by route: counted in plain arrays and made into metrics when they are
 * scraped. The library hashes its labels at every observation, which cost as much as the limiter's decision.
 */
export interface AnswerMetrics {
  /** Makes the series of a route before its first answer: the first failure of all would else be no increase. */
  begin(route: string): void;
  count(answer: CountedAnswer): void;
}

export interface CountedAnswer {
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  /** How a looked-up value came about. */
  readonly cache?: string | undefined;
}

const UPPER_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12];

interface RouteCounts {
  readonly byStatus: Map<number, number>;
  readonly byCache: Map<string, number>;
  /** One more than the bounds: the last holds what took longer. */
  readonly byTime: number[];
  sumSeconds: number;
}

/** What alerts look at (deploy/alerts.yaml). */
const STATUSES_FROM_THE_START = [500, 502, 503, 504];
const CACHE_OUTCOMES: readonly CacheOutcome['kind'][] = ['hit', 'miss', 'refreshed', 'stale'];

const REQUESTS = 'pennant_http_requests_total';
const LOOKUPS = 'pennant_cache_lookups_total';
const DURATION = 'pennant_http_request_duration_seconds';

export function createAnswerMetrics(registry: Registry): AnswerMetrics {
  const routes = new Map<string, RouteCounts>();

  function beginRoute(route: string): RouteCounts {
    const byTime = new Array(UPPER_BOUNDS_SECONDS.length + 1).fill(0);
    const byStatus = new Map(STATUSES_FROM_THE_START.map((status) => [status, 0]));
    const begun = { byStatus, byCache: new Map(), byTime, sumSeconds: 0 };
    routes.set(route, begun);
    return begun;
  }

  registerMetric(registry, REQUESTS, 'counter', 'Answers of the public listener.', () =>
    [...routes].flatMap(([route, { byStatus }]) =>
      [...byStatus].map(([status, value]) => ({ labels: { route, status }, value })),
    ),
  );
  registerMetric(registry, LOOKUPS, 'counter', 'Looked-up values in answers, by how they came about.', () =>
    [...routes].flatMap(([route, { byCache }]) =>
      [...byCache].map(([outcome, value]) => ({ labels: { route, outcome }, value })),
    ),
  );
  registerMetric(registry, DURATION, 'histogram', 'From the request to its answer’s hand-over to the socket.', () =>
    [...routes].flatMap(([route, counts]) => histogramOf(route, counts)),
  );

  return {
    begin(route) {
      if (!routes.has(route)) beginRoute(route);
    },
    count({ route, status, seconds, cache }) {
      const counts = routes.get(route) ?? beginRoute(route);
      counts.byStatus.set(status, (counts.byStatus.get(status) ?? 0) + 1);
      if (cache !== undefined) countLookup(counts.byCache, cache);
      let bucket = 0;
      while (bucket < UPPER_BOUNDS_SECONDS.length && seconds > (UPPER_BOUNDS_SECONDS[bucket] ?? 0)) bucket += 1;
      counts.byTime[bucket] = (counts.byTime[bucket] ?? 0) + 1;
      counts.sumSeconds += seconds;
    },
  };
}

function countLookup(byCache: Map<string, number>, outcome: string): void {
  if (byCache.size === 0) for (const each of CACHE_OUTCOMES) byCache.set(each, 0);
  byCache.set(outcome, (byCache.get(outcome) ?? 0) + 1);
}

function histogramOf(route: string, { byTime, sumSeconds }: RouteCounts): Sample[] {
  let total = 0;
  const buckets = byTime.map((count, at) => {
    total += count;
    const le = UPPER_BOUNDS_SECONDS[at] ?? '+Inf';
    return { labels: { le, route }, value: total, metricName: `${DURATION}_bucket` };
  });
  return [
    ...buckets,
    { labels: { route }, value: sumSeconds, metricName: `${DURATION}_sum` },
    { labels: { route }, value: total, metricName: `${DURATION}_count` },
  ];
}
