import { AppError, type ErrorCode } from '../../domain/errors.ts';
import { ALLOWED_METHODS } from '../request/admission.ts';
import { findAdvice } from '../request/advice.ts';
import type { PublicResponse, RequestContext } from '../request/context.ts';
import { cacheStatusFields, PROBLEM_MEDIA_TYPE, publicFor } from './fields.ts';

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly description: string;
  /** Default: `no-store`. `remaining-ttl`: as long as the error says that it holds. */
  readonly cacheControl?: 'no-store' | 'remaining-ttl' | 'public, max-age=60';
  /** `Retry-After` in seconds if the error itself has none. */
  readonly retryAfterSeconds?: number;
}

/** Every error of the service (RFC 9457 problem types): the one table of statuses, caching and `Retry-After`. */
export const PROBLEMS = {
  malformed_request: {
    status: 400,
    title: 'Malformed request',
    description: 'The request is not valid HTTP. Examples: no Host field, two of them, a broken percent-escape.',
  },
  invalid_parameter: {
    status: 400,
    title: 'Invalid parameter',
    description: 'A parameter or the identifier is not valid; the detail names it and the allowed values.',
  },
  channel_not_found: {
    status: 404,
    title: 'Channel not found',
    description: 'There is no such channel, or it was terminated.',
    cacheControl: 'remaining-ttl',
  },
  image_not_found: {
    status: 404,
    title: 'Image not found',
    description: 'The channel exists, but has no such image.',
    cacheControl: 'public, max-age=60',
  },
  route_not_found: {
    status: 404,
    title: 'No such path',
    description: 'There is no such path; the index lists all paths.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    description: 'Only GET, HEAD and OPTIONS are supported.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    description: 'The request did not arrive in time.',
  },
  expectation_failed: {
    status: 417,
    title: 'Expectation failed',
    description: 'The Expect field asks for something other than 100-continue.',
  },
  request_too_large: {
    status: 414,
    title: 'Request too large',
    description: 'The URL (414) or the header section (431) is over the limit.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    description: 'The client has used up its requests; Retry-After says when the next one is free.',
    retryAfterSeconds: 30,
  },
  channel_blocked: {
    status: 451,
    title: 'Channel not available',
    description: 'The operator of this instance has taken the channel down.',
  },
  upstream_invalid: {
    status: 502,
    title: 'Unusable source',
    description: 'The source of the channel or its image sent an unusable response.',
    retryAfterSeconds: 60,
  },
  upstream_unavailable: {
    status: 503,
    title: 'Source unavailable',
    description: 'The source of the channel is not available at the moment.',
    retryAfterSeconds: 30,
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    description: 'The instance has too much to do with images, or could not encode this one in time.',
    retryAfterSeconds: 2,
  },
  upstream_timeout: {
    status: 504,
    title: 'Source timeout',
    description: 'The source of the channel did not respond in time.',
    retryAfterSeconds: 10,
  },
  internal: {
    status: 500,
    title: 'Internal error',
    description: 'A bug; please report it with the request id.',
  },
} as const satisfies Record<ErrorCode, Problem>;

/** A header section over the limit gets the code of a URL over the limit and a status of its own. */
export const HEADERS_TOO_LARGE = new AppError('request_too_large', 'The URL and the header section are too large.');
const HEADERS_TOO_LARGE_STATUS = 431;

/** What a step threw. Anything but an `AppError` is a bug. */
export function asAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError('internal', BUG, { cause: thrown });
}

/** The detail of a bug for clients. */
const BUG = 'Something went wrong here. Please report it with the request id.';

/** What is wrong, and advice if there is some. */
export function detailOf(error: AppError, context: RequestContext): string {
  return `${error.message} ${findAdvice(error, context)}`.trimEnd();
}

/** The response to a failed request. */
export function problemResponse(error: AppError, context: RequestContext): PublicResponse {
  const { code, outcome, retryAfterMs } = error;
  const problem: Problem = PROBLEMS[code];
  const status = statusOf(error);
  const headers: Record<string, string> = {
    'content-type': PROBLEM_MEDIA_TYPE,
    'cache-control': cacheControlOf(problem, error),
  };
  if (problem.retryAfterSeconds !== undefined) {
    const seconds =
      retryAfterMs === undefined ? problem.retryAfterSeconds : Math.max(1, Math.ceil(retryAfterMs / 1000));
    headers['retry-after'] = String(seconds);
  }
  if (status === 405) headers.allow = ALLOWED_METHODS;
  Object.assign(headers, cacheStatusFields(outcome));
  const body = {
    type: `${context.base}/problems#${code}`,
    title: problem.title,
    status,
    detail: detailOf(error, context),
    code,
    requestId: context.id,
  };
  return { status, headers, body: JSON.stringify(body), outcome, error };
}

/** The status of the problem response. */
export function statusOf(error: AppError): number {
  return error === HEADERS_TOO_LARGE ? HEADERS_TOO_LARGE_STATUS : PROBLEMS[error.code].status;
}

function cacheControlOf({ cacheControl = 'no-store' }: Problem, { validForMs }: AppError): string {
  if (cacheControl !== 'remaining-ttl') return cacheControl;
  return validForMs === undefined ? 'no-store' : publicFor(validForMs);
}

/** The list of `GET /problems`. */
export function listProblems(base: string): object[] {
  return Object.entries(PROBLEMS).map(([code, { status, title, description }]) => {
    return { type: `${base}/problems#${code}`, code, status, title, description };
  });
}
