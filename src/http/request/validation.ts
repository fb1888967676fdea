import { AppError } from '../../domain/errors.ts';
import type { RequestContext } from './context.ts';
import { malformed } from './target.ts';

/**
 * Refuses invalid requests of any path. In this order: malformed, expectation, method.
 *
 * @throws AppError `malformed_request`, `request_too_large`, `expectation_failed`, `method_not_allowed`
 */
export function validate({ request, target, authority, base }: RequestContext): undefined {
  if (target.problem !== undefined) throw target.problem;
  // Node's parser also accepts the version lines of HTTP/0.9, HTTP/2.0 and RTSP.
  if (request.httpVersionMajor !== 1) throw malformed(NOT_HTTP);
  if (authority === '') throw malformed('Send exactly one Host field that names a host.');
  if (base === '') throw malformed(UNUSABLE_HOST);
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new AppError('expectation_failed', 'The only supported expectation is 100-continue.');
  }
  if (!METHODS.has(request.method)) throw methodNotAllowed();
}

export const METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** The value of `Allow`. */
export const ALLOWED_METHODS = [...METHODS].join(', ');

export const NOT_HTTP = 'The request is not valid HTTP/1.1.';
const UNUSABLE_HOST =
  'The host is not a name or address of at most 260 characters with an optional port from 1 to 65535.';

export function methodNotAllowed(): AppError {
  return new AppError('method_not_allowed', `Only ${ALLOWED_METHODS} are supported.`);
}
