import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { AppError } from '../../domain/errors.ts';
import type { Metrics } from '../../lib/metrics/metrics.ts';

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
export function createResponseMetrics(metrics: Pick<Metrics, 'createCounter' | 'createHistogram'>, routes: string[]) {
  const requests = metrics.createCounter(
    'pennant_http_requests_total',
    'Responses of the public listener. A badge that shows an error counts with the status of the error.',
    ['route', 'status'],
  );
  const lookups = metrics.createCounter('pennant_cache_lookups_total', 'Cache lookups, by outcome.', [
    'route',
    'outcome',
  ]);
  const seconds = metrics.createHistogram(
    'pennant_http_request_duration_seconds',
    'Time from receiving a request to handing its response to the socket.',
    ['route'],
  );
  const routesWithLookups = new Set<string>();

  // Prometheus sees an increase only in a counter that it has seen before.
  for (const route of routes) {
    for (const status of STATUSES_FROM_THE_START) requests.inc({ route, status }, 0);
    seconds.begin({ route });
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
