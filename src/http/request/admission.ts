import type { IncomingMessage } from 'node:http';
import { AppError } from '../../domain/errors.ts';
import type { RateLimit, RateLimitDecision, RateLimiter } from '../../rate-limit/limiter.ts';
import { type RequestContext, routeNotFound, type Step } from './context.ts';
import { malformed } from './target.ts';

/**
 * The step that counts the request and sets its rate-limit fields. Returns a promise if the limiter does.
 *
 * @param contact address of the operator
 * @throws AppError `rate_limited` over the limit. After exactly its `retryAfterMs` the next request is admitted
 */
export function createRateLimitStep(limiter: RateLimiter, contact: string | undefined): Step {
  function apply(context: RequestContext, limit: RateLimit, decision: RateLimitDecision): undefined {
    const resetSeconds = Math.ceil(decision.resetMs / 1000);
    context.limitHeaders = {
      'ratelimit-policy': `"default";q=${limit.requests};w=${limit.windowMs / 1000}`,
      ratelimit: `"default";r=${decision.remaining};t=${resetSeconds}`,
      'x-ratelimit-limit': String(limit.requests),
      'x-ratelimit-remaining': String(decision.remaining),
      'x-ratelimit-reset': String(resetSeconds),
    };
    if (decision.isAllowed) return;
    const policy = `Limit: ${limit.requests} requests per ${limit.windowMs / 1000} s per client.`;
    const more = contact === undefined ? '' : ` Higher limits on request: ${contact}.`;
    const detail = `${policy} Try again in ${resetSeconds} s.${more}`;
    throw new AppError('rate_limited', detail, { retryAfterMs: decision.resetMs });
  }

  return (context) => {
    const { key, limit } = context.client;
    if (limit === 'unlimited') return undefined;
    const decision = limiter.hit(key, limit);
    if (decision instanceof Promise) return decision.then((decided) => apply(context, limit, decided));
    return apply(context, limit, decision);
  };
}

/**
 * The step that refuses what is wrong with a request before its parameters are read. In this order: malformed, expectation,
 * method, path.
 *
 * @throws AppError `malformed_request`, `request_too_large`, `expectation_failed`, `method_not_allowed`, `route_not_found`
 */
export function validate({ request, fault, target, base, endpoint }: RequestContext): undefined {
  if (fault !== undefined) throw fault;
  if (target.problem !== undefined) throw target.problem;
  // Node's parser also accepts the version lines of HTTP/0.9, HTTP/2.0 and RTSP.
  if (request.httpVersionMajor !== 1) throw malformed(NOT_HTTP);
  if (!hasOneHost(request)) throw malformed('Send exactly one Host field that names a host.');
  if (base === '') throw malformed(UNUSABLE_HOST);
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new AppError('expectation_failed', 'The only supported expectation is 100-continue.');
  }
  if (!METHODS.has(request.method)) throw methodNotAllowed();
  if (endpoint === undefined) throw routeNotFound(target.path);
}

/** Counts in the raw fields, because Node drops repeated ones. */
function hasOneHost({ headers, rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts === 1 && headers.host !== '';
}

const METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The value of `Allow`. */
export const ALLOWED_METHODS = [...METHODS].join(', ');

export const NOT_HTTP = 'The request is not valid HTTP/1.1.';
const UNUSABLE_HOST =
  'The host is not a name or address of at most 260 characters with an optional port from 1 to 65535.';

export function methodNotAllowed(): AppError {
  return new AppError('method_not_allowed', `Only ${ALLOWED_METHODS} are supported.`);
}
