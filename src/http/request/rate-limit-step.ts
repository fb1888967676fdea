import { AppError } from '../../domain/errors.ts';
import type { RateLimit, RateLimitDecision, RateLimiter } from '../../rate-limit/limiter.ts';
import type { RequestContext } from './context.ts';

interface RateLimitStepOptions {
  readonly limiter: RateLimiter;
  /** Contact address of the operator. */
  readonly contact: string | undefined;
}

type CountedRequest = Pick<RequestContext, 'client' | 'limitHeaders'>;

/** Returns a promise if the limiter does. */
export type RateLimitStep = (context: CountedRequest) => undefined | Promise<undefined>;

/**
 * The step that counts the request and sets its rate-limit fields.
 *
 * @throws AppError `rate_limited` over the limit. After exactly its `retryAfterMs` the next request is admitted
 */
export function createRateLimitStep({ limiter, contact }: RateLimitStepOptions): RateLimitStep {
  function apply(context: CountedRequest, limit: RateLimit, decision: RateLimitDecision): undefined {
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
