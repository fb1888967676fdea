import type { AppError } from '../../domain/errors.ts';
import type { FailureReport } from '../../lib/failure-log.ts';
import { describeFailure } from '../../lib/logger.ts';
import type { Runtime } from '../../lib/runtime.ts';
import type { Endpoint, PublicResponse, RequestContext } from '../request/context.ts';
import { truncateAddress } from '../request/ip-addresses.ts';
import { createResponseMetrics, type FinishedResponse } from './response-metrics.ts';
import type { UnservedRequests } from './unserved-requests.ts';

/** The route of a request without an endpoint, instead of the endpoint's pattern (`/api/channel/:identifier`). */
const NO_ROUTE = 'none';
/** The route of bytes that never became a request. */
export const UNPARSED = 'unparsed';

interface ResponseReporterOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'metrics' | 'logger' | 'failureLog'>;
  readonly unservedRequests: Pick<UnservedRequests, 'note'>;
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
  const { runtime, unservedRequests, endpoints, logsAll } = options;
  const { clock, metrics, logger, failureLog } = runtime;
  const count = createResponseMetrics(metrics, [NO_ROUTE, UNPARSED, ...endpoints.map(({ url }) => url)]);

  function report(entry: FinishedResponse): void {
    count(entry);
    unservedRequests.note(entry);
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
