import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { AppError } from '../../domain/errors.ts';
import { SECONDS_BUCKETS } from '../../lib/metrics.ts';

/** A response that was handed to the socket, for metrics and the log. */
export interface FinishedResponse {
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
  readonly requestId: string;
  readonly method: string;
  /** Empty when the request could not be read. */
  readonly path: string;
  /** The client's full address. */
  readonly client: string;
  /** The origin of a looked-up value. */
  readonly cache?: CacheOutcome['kind'] | undefined;
  /** The reason for a 5xx. */
  readonly failure?: AppError | undefined;
}

/** The failures that deploy/alerts.yaml watches. */
const STATUSES_FROM_THE_START = [500, 502, 503, 504];
const CACHE_OUTCOMES: readonly CacheOutcome['kind'][] = ['hit', 'miss', 'refreshed', 'stale'];

/** Returns the function that counts the responses of these routes. */
export function createResponseMetrics(metrics: Registry, routes: string[]) {
  const requests = new Counter({
    name: 'pennant_http_requests_total',
    help: 'Responses of the public listener. A badge that shows an error counts with the status of the error.',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  const lookups = new Counter({
    name: 'pennant_cache_lookups_total',
    help: 'Cache lookups, by outcome.',
    labelNames: ['route', 'outcome'],
    registers: [metrics],
  });
  const seconds = new Histogram({
    name: 'pennant_http_request_duration_seconds',
    help: 'Time from receiving a request to handing its response to the socket.',
    labelNames: ['route'],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  const routesWithLookups = new Set<string>();

  // Prometheus sees an increase only in a counter that it has seen before.
  for (const route of routes) {
    for (const status of STATUSES_FROM_THE_START) requests.inc({ route, status }, 0);
    seconds.zero({ route });
  }

  return ({ route, status, seconds: taken, cache: outcome }: FinishedResponse): void => {
    requests.inc({ route, status });
    seconds.observe({ route }, taken);
    // A value from the catalog was not looked up in a cache.
    if (outcome === undefined || outcome === 'own') return;
    if (!routesWithLookups.has(route)) {
      routesWithLookups.add(route);
      for (const each of CACHE_OUTCOMES) lookups.inc({ route, outcome: each }, 0);
    }
    lookups.inc({ route, outcome });
  };
}
