import { AppError } from '../../domain/errors.ts';
import type { ClientLimit, RateLimit, RateLimitDecision, RateLimiter } from '../../rate-limit/limiter.ts';
import type { Client, RequestContext, Step } from './context.ts';

export interface Admission {
  readonly limit: ClientLimit;
  readonly isAllowed: boolean;
  /** For a refused request: after exactly this long the next one is admitted. */
  readonly retryAfterMs: number;
  /** `RateLimit…` of draft-ietf-httpapi-ratelimit-headers and the older `X-RateLimit-…`; none for unlimited clients. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface RateLimitGateOptions {
  readonly limitFor: (address: string) => ClientLimit;
  readonly limiter: RateLimiter;
}

export interface RateLimitGate {
  /** Counts one request of the client. */
  admit(client: Client): Admission | Promise<Admission>;
}

export function createRateLimitGate({ limitFor, limiter }: RateLimitGateOptions): RateLimitGate {
  return {
    admit(client) {
      const limit = limitFor(client.address);
      if (limit === 'unlimited') return { limit, isAllowed: true, retryAfterMs: 0, headers: {} };
      const decision = limiter.hit(client.key, limit);
      if (decision instanceof Promise) return decision.then((decided) => admissionOf(limit, decided));
      return admissionOf(limit, decision);
    },
  };
}

const policies = new WeakMap<RateLimit, string>();

function policyOf(limit: RateLimit): string {
  const known = policies.get(limit);
  if (known !== undefined) return known;
  const policy = `"default";q=${limit.requests};w=${limit.windowMs / 1000}`;
  policies.set(limit, policy);
  return policy;
}

function admissionOf(limit: RateLimit, decision: RateLimitDecision): Admission {
  const resetSeconds = Math.ceil(decision.resetMs / 1000);
  const headers = {
    'ratelimit-policy': policyOf(limit),
    ratelimit: `"default";r=${decision.remaining};t=${resetSeconds}`,
    'x-ratelimit-limit': String(limit.requests),
    'x-ratelimit-remaining': String(decision.remaining),
    'x-ratelimit-reset': String(resetSeconds),
  };
  return { limit, isAllowed: decision.isAllowed, retryAfterMs: decision.resetMs, headers };
}

export interface RateLimitStepOptions {
  readonly gate: RateLimitGate;
  /** How clients reach the operator. */
  readonly contact: string | undefined;
}

/** The step that counts the request and refuses those over the limit with `rate_limited`. */
export function createRateLimitStep({ gate, contact }: RateLimitStepOptions): Step {
  function apply(context: RequestContext, admission: Admission): undefined {
    context.limitHeaders = admission.headers;
    if (!admission.isAllowed) throw tooManyRequests(admission, contact);
  }

  return (context) => {
    const admission = gate.admit(context.client);
    if (admission instanceof Promise) return admission.then((decided) => apply(context, decided));
    return apply(context, admission);
  };
}

/** @param contact how clients reach the operator */
export function tooManyRequests({ limit, retryAfterMs }: Admission, contact: string | undefined): AppError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const more = contact === undefined ? '' : ` Higher limits on request: ${contact}.`;
  const policy =
    limit === 'unlimited' ? '' : `Limit: ${limit.requests} requests per ${limit.windowMs / 1000} s per client. `;
  return new AppError('rate_limited', `${policy}Try again in ${seconds} s.${more}`, { retryAfterMs });
}
