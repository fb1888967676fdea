import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import type { CacheOutcome } from '../../domain/cache-outcome.ts';
import type { AppError } from '../../domain/errors.ts';
import type { FailureReport } from '../../lib/failure-log.ts';
import { describeFailure } from '../../lib/logger.ts';
import { SECONDS_BUCKETS } from '../../lib/metrics.ts';
import type { Runtime } from '../../lib/runtime.ts';
import type { Endpoint, PublicResponse, RequestContext } from '../request/context.ts';
import { truncateAddress } from '../request/ip-addresses.ts';

/** The route of a request without an endpoint, instead of the endpoint's pattern (`/api/channel/:identifier`). */
const NO_ROUTE = 'none';
/** The route of bytes that never became a request. */
export const UNPARSED = 'unparsed';

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

interface ResponseReporterOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'metrics' | 'logger' | 'failureLog'>;
  /** Gets the requests over the rate limit (429). */
  readonly refusedRequests: { note(response: FinishedResponse): void };
  /** Their patterns have metrics from the start. */
  readonly endpoints: readonly Pick<Endpoint, 'url'>[];
  /** True: a line for each response. False: for failed and slow ones only. */
  readonly logsAll: boolean;
}

/** Longer than a stale record waits for a fresh one. */
const SLOW_SECONDS = 4;

/** Reports each response that was handed to the socket, in the log and the metrics. */
export interface ResponseReporter {
  /** Counts the response. Logs it if the log is on, or if it failed or was slow: at most one line per request. */
  report(entry: FinishedResponse): void;
  /** The last response step of the pipeline. */
  observe(context: RequestContext, response: PublicResponse): undefined;
}

export function createResponseReporter(options: ResponseReporterOptions): ResponseReporter {
  const { runtime, refusedRequests, endpoints, logsAll } = options;
  const { clock, metrics, logger, failureLog } = runtime;
  const count = createResponseMetrics(metrics, [NO_ROUTE, UNPARSED, ...endpoints.map(({ url }) => url)]);

  function report(entry: FinishedResponse): void {
    count(entry);
    if (entry.status === 429) refusedRequests.note(entry);
    const isSlow = entry.seconds >= SLOW_SECONDS;
    if (!logsAll && !isSlow && entry.failure === undefined) return;
    const { requestId, method, route, path, status, seconds, client, cache, failure } = entry;
    const line = {
      route,
      status,
      requestId,
      method,
      path,
      durationMs: Math.round(seconds * 1000),
      client: truncateAddress(client),
      cache,
      code: failure?.code,
    };
    const problem = findProblem(line, failure, isSlow);
    const hasLine = problem !== undefined && failureLog.report({ ...problem, requestId: entry.requestId });
    if (logsAll && !hasLine) logger.info(line, 'request');
  }

  return {
    report,

    observe(context, { status, countedStatus, cache, failure }) {
      const { endpoint, receivedAtMs, id, request, target, client } = context;
      report({
        route: endpoint?.url ?? NO_ROUTE,
        status: countedStatus ?? status,
        requestId: id,
        method: request.method ?? '',
        path: target.path + target.query,
        seconds: (clock.monotonic() - receivedAtMs) / 1000,
        client: client.address,
        cache,
        failure,
      });
    },
  };
}

/** What the log says of a failed or slow response. `undefined` for any other, such as a 404. */
function findProblem(
  line: { readonly route: string },
  failure: AppError | undefined,
  isSlow: boolean,
): FailureReport | undefined {
  if (failure === undefined) {
    return isSlow ? { level: 'warn', key: `slow ${line.route}`, message: 'slow request', fields: line } : undefined;
  }
  const { code, cause } = failure;
  if (code === 'internal') {
    const key = `bug ${cause instanceof Error ? cause.stack : describeFailure(cause)}`;
    return { level: 'error', key, message: 'request failed: a bug', fields: { ...line, err: cause } };
  }
  const reason = describeFailure(failure);
  const fields = { ...line, reason };
  return { level: 'warn', key: `request ${code} ${reason}`, message: 'request failed', fields, isConsequence: true };
}

/** The failures that deploy/alerts.yaml watches. */
const STATUSES_FROM_THE_START = [500, 502, 503, 504];
const CACHE_OUTCOMES: readonly CacheOutcome['kind'][] = ['hit', 'miss', 'refreshed', 'stale'];

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
    if (outcome === undefined || outcome === 'catalog') return;
    if (!routesWithLookups.has(route)) {
      routesWithLookups.add(route);
      for (const each of CACHE_OUTCOMES) lookups.inc({ route, outcome: each }, 0);
    }
    lookups.inc({ route, outcome });
  };
}
