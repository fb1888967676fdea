import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import { type AppError, isInconclusive, isUpstreamFailure } from '../../domain/errors.ts';
import type { FailureReport } from '../../lib/failure-log.ts';
import { truncateAddress } from '../../lib/ip-addresses.ts';
import { describeFailure } from '../../lib/logger.ts';
import { SECONDS_BUCKETS } from '../../lib/metrics.ts';
import type { Runtime } from '../../lib/runtime.ts';
import type { Endpoint, ResponseStep } from '../request/context.ts';
import { statusOf } from './problems.ts';

/** The route without an endpoint, instead of the endpoint's pattern (`/api/channel/:identifier`). */
const NO_ROUTE = 'none';

/** A flood must not fill the log, so equal lines are counted. */
const RATE_LIMITED = 'requests over the rate limit (429)';

/** The last response step of the pipeline: counts the response, and logs it if it failed or was refused, or if the log is on. */
export function createResponseReporter(
  { clock, metrics, logger, failureLog }: Pick<Runtime, 'clock' | 'metrics' | 'logger' | 'failureLog'>,
  endpoints: readonly Endpoint[],
  logsAll: boolean,
): ResponseStep {
  const count = createResponseMetrics(metrics, [NO_ROUTE, ...endpoints.map(({ url }) => url)]);

  return ({ endpoint, receivedAtMs, id: requestId, request, target, client }, response) => {
    const { error, outcome } = response;
    const status = error === undefined ? response.status : statusOf(error);
    const failure = status >= 500 && !isExplained(error) ? error : undefined;
    const cache = outcome?.kind;
    const route = endpoint?.url ?? NO_ROUTE;
    const seconds = (clock.monotonic() - receivedAtMs) / 1000;
    count(route, status, seconds, cache);
    if (!logsAll && failure === undefined && status !== 429) return;
    const line = {
      route,
      status,
      requestId,
      method: request.method ?? '',
      path: target.path + target.query,
      durationMs: Math.round(seconds * 1000),
      client: truncateAddress(client.address),
      cache,
      code: failure?.code,
    };
    const problem = findProblem(line, failure);
    const hasLine = problem !== undefined && failureLog.report(problem);
    if (logsAll && !hasLine) logger.info(line, 'request');
  };
}

/** True for a failure that has a line of a source, an image or a breaker. */
function isExplained(error: AppError | undefined): boolean {
  return isUpstreamFailure(error) && !isInconclusive(error);
}

/** What the log says of a failed or refused response. `undefined` for any other, such as a 404. */
function findProblem(line: { readonly status: number }, failure: AppError | undefined): FailureReport | undefined {
  if (line.status === 429) return { level: 'warn', key: 'rate limit', message: RATE_LIMITED, fields: line };
  if (failure === undefined) return undefined;
  const { code, cause } = failure;
  if (code === 'internal') {
    const key = `bug ${cause instanceof Error ? cause.stack : describeFailure(cause)}`;
    return { level: 'error', key, message: 'request failed: a bug', fields: { ...line, err: cause } };
  }
  const reason = describeFailure(failure);
  const fields = { ...line, reason };
  return { level: 'warn', key: `request ${code} ${reason}`, message: 'request failed', fields };
}

/** The failures that deploy/alerts.yaml watches. */
const STATUSES_FROM_THE_START = [500, 502, 503, 504];

/** Returns the function that counts the responses of these routes. */
function createResponseMetrics(metrics: Registry, routes: string[]) {
  const requests = new Counter({
    name: 'pennant_http_requests_total',
    help: 'Responses of the public listener. A badge that shows an error counts with the status of the error.',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  const lookups = new Counter({
    name: 'pennant_cache_lookups_total',
    help: 'Responses with a looked-up value, by the outcome of the cache.',
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

  // Prometheus sees an increase only in a counter that it has seen before.
  for (const route of routes) {
    for (const status of STATUSES_FROM_THE_START) requests.inc({ route, status }, 0);
    seconds.zero({ route });
  }

  return (route: string, status: number, taken: number, outcome: CacheOutcome['kind'] | undefined): void => {
    requests.inc({ route, status });
    seconds.observe({ route }, taken);
    // A value from the catalog was not looked up in a cache.
    if (outcome !== undefined && outcome !== 'catalog') lookups.inc({ route, outcome });
  };
}
