import { AppError } from '../../domain/errors.ts';
import { ALLOWED_METHODS } from '../response/response.ts';
import type { RequestContext } from './context.ts';

/**
 * Refuses what is wrong with a request whatever its path. In this order: malformed, expectation, method.
 *
 * @throws AppError `malformed_request`, `request_too_large`, `expectation_failed`, `method_not_allowed`
 */
export function validate({ request, target, authority, base }: RequestContext): undefined {
  if (target.problem !== undefined) throw target.problem;
  // Node's parser also accepts the version lines of HTTP/0.9, HTTP/2.0 and RTSP.
  if (request.httpVersionMajor !== 1) throw notHttp();
  if (authority === '') throw new AppError('malformed_request', 'Send exactly one Host field that names a host.');
  if (base === '') {
    throw new AppError(
      'malformed_request',
      'The host is not a name or address of at most 260 characters, perhaps with a port from 1 to 65535.',
    );
  }
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new AppError('expectation_failed', 'Only the expectation 100-continue can be met.');
  }
  if (!isAllowedMethod(request.method)) throw methodNotAllowed();
}

const METHODS: ReadonlySet<string | undefined> = new Set(ALLOWED_METHODS.split(', '));

export function isAllowedMethod(method: string | undefined): boolean {
  return METHODS.has(method);
}

export function notHttp(): AppError {
  return new AppError('malformed_request', 'The request is not valid HTTP/1.1.');
}

export function methodNotAllowed(): AppError {
  return new AppError('method_not_allowed', `Only ${ALLOWED_METHODS} are answered.`);
}
