import type { CacheOutcome } from './cache-outcome.ts';

/**
 * The complete list of error codes. `http/response/problems.ts` has the meaning of each code for clients, its status, its
 * `Cache-Control` and its default `Retry-After`.
 */
export const ERROR_CODES = [
  /** The request is not valid HTTP: no or several `Host`, broken percent-escapes, a space or a control character in the target. */
  'malformed_request',
  'invalid_parameter',
  'channel_not_found',
  'image_not_found',
  'route_not_found',
  'method_not_allowed',
  'request_timeout',
  'expectation_failed',
  'request_too_large',
  'rate_limited',
  'channel_blocked',
  /** YouTube’s response is unusable: no JSON, no channel, no image. */
  'upstream_invalid',
  /**
   * YouTube is unavailable: refused, DNS, blocked (429, captcha, consent), breaker open, call budget used up. Or an
   * image of the catalog cannot be read.
   */
  'upstream_unavailable',
  /** The encoder queue is full or does not move, or an encoder hangs. */
  'overloaded',
  'upstream_timeout',
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * What a failure of YouTube concerns:
 * - `upstream`: every request of this kind (no connection, 429, 5xx, captcha)
 * - `key`: only the requested channel, name, query or image (an unreadable response)
 * - `inconclusive`: only the requested key, as YouTube explained in a readable response ("not available in your country"). The
 *   request fails, but YouTube works.
 */
type FailureScope = 'upstream' | 'key' | 'inconclusive';

/** Why calls fail, as far as an operator can act on it: the words of conditions, metrics and advice. */
export type FailureCause = 'failing' | 'unreachable' | 'refused' | 'quota';

export type FailureKind = 'unexplained' | 'unreadable' | 'late' | FailureCause;

interface Failure {
  /** Why a breaker is open that such calls have opened. */
  readonly cause: FailureCause;
  /** The error of the call. */
  readonly code: ErrorCode;
  /** `key`: other keys may work. */
  readonly scope?: 'key';
  /** What the other side does, after its name, for clients and operators. */
  readonly predicate: string;
}

/** How calls to another side fail, from the best to the worst. */
export const FAILURES: Readonly<Record<FailureKind, Failure>> = {
  /** Refused without a reason. For two different keys in a row, this is a refusal of this address. */
  unexplained: { cause: 'failing', code: 'upstream_unavailable', scope: 'key', predicate: 'refused the call' },
  /** Damaged or too long. */
  unreadable: { cause: 'failing', code: 'upstream_invalid', scope: 'key', predicate: 'sent an unreadable response' },
  failing: { cause: 'failing', code: 'upstream_unavailable', predicate: 'gives no usable responses' },
  late: { cause: 'failing', code: 'upstream_timeout', predicate: 'did not respond in time' },
  /** The connection fails: to the other side, or to the relay or proxy before it. */
  unreachable: { cause: 'unreachable', code: 'upstream_unavailable', predicate: 'cannot be reached from this server' },
  refused: { cause: 'refused', code: 'upstream_unavailable', predicate: 'refuses this server' },
  quota: { cause: 'quota', code: 'upstream_unavailable', predicate: 'has no quota left' },
};

type AppErrorOptions = ErrorOptions & Partial<Pick<AppError, 'retryAfterMs' | 'validForMs' | 'outcome' | 'scope'>>;

/** An expected failure. `message` is shown to the client and contains nothing internal. */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** How long the client should wait before it retries. */
  readonly retryAfterMs: number | undefined;
  /** How long the error remains true, for example "no such channel". */
  readonly validForMs: number | undefined;
  /** For a cached negative result: where it came from. */
  readonly outcome: CacheOutcome | undefined;
  /** Default: `key` for `upstream_invalid`, `upstream` for all other codes. */
  readonly scope: FailureScope;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.validForMs = options.validForMs;
    this.outcome = options.outcome;
    this.scope = options.scope ?? (code === 'upstream_invalid' ? 'key' : 'upstream');
  }
}

/** A failure that the operator can resolve. The message is for the operator. */
export class OperatorError extends Error {}

/** The code of an expected failure, `internal` for anything else. */
export function errorCodeOf(error: unknown): ErrorCode {
  return error instanceof AppError ? error.code : 'internal';
}

/** The value, or the expected failure. @throws any other error */
export async function valueOrError<T>(value: T | Promise<T>): Promise<T | AppError> {
  try {
    return await value;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

const UPSTREAM_FAILURES = ['upstream_unavailable', 'upstream_timeout', 'upstream_invalid', 'overloaded'] as const;

/**
 * True if YouTube gave no usable response. It says nothing about the channel, so it replaces no stored value.
 * `overloaded`: an original that was downloaded but could not be decoded for lack of capacity.
 */
export function isUpstreamFailure(error: unknown): error is AppError {
  return error instanceof AppError && (UPSTREAM_FAILURES as readonly ErrorCode[]).includes(error.code);
}

/** True for a failure of YouTube that says nothing about other keys. */
export function isKeyFailure(error: unknown): error is AppError {
  return isUpstreamFailure(error) && error.scope !== 'upstream';
}

/** True for a key failure that YouTube explained in a readable response. */
export function isInconclusive(error: unknown): error is AppError {
  return isUpstreamFailure(error) && error.scope === 'inconclusive';
}

/** The failure of YouTube that a response names if there are several: unavailable before time-out before invalid. */
export function clearestError(errors: readonly AppError[]): AppError | undefined {
  return UPSTREAM_FAILURES.flatMap((code) => errors.filter((error) => error.code === code))[0];
}
