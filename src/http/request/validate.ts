import type { IncomingMessage } from 'node:http';
import { AppError } from '../../domain/errors.ts';
import { ALLOWED_METHODS } from '../response/send.ts';
import type { RequestTarget } from './target.ts';

/** What the client calls this service; empty for a request without exactly one `Host`. */
export function authorityOf(request: IncomingMessage, target: RequestTarget): string {
  return countHosts(request.rawHeaders) === 1 ? (target.authority ?? request.headers.host ?? '') : '';
}

export interface CheckedRequest {
  readonly request: IncomingMessage;
  readonly target: RequestTarget;
  readonly authority: string;
  /** Made of the authority where the operator has named no origin; `undefined`: it cannot be. */
  readonly base: string | undefined;
}

/** What is wrong with a request whatever its path, in this order: malformed, expectation, method. */
export function findRequestFault({ request, target, authority, base }: CheckedRequest): AppError | undefined {
  if (target.problem !== undefined) return target.problem;
  // Node's parser also takes the version lines of HTTP/0.9, HTTP/2.0 and RTSP for requests.
  if (request.httpVersionMajor !== 1) return notHttp();
  if (authority === '') return new AppError('malformed_request', 'Send exactly one Host field that names a host.');
  if (base === undefined) {
    return new AppError(
      'malformed_request',
      'The host is not a name or address of at most 260 characters, perhaps with a port from 1 to 65535.',
    );
  }
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return new AppError('expectation_failed', 'Only the expectation 100-continue can be met.');
  }
  return METHODS.has(request.method ?? '') ? undefined : methodNotAllowed();
}

const METHODS: ReadonlySet<string> = new Set(ALLOWED_METHODS.split(', '));

export function notHttp(): AppError {
  return new AppError('malformed_request', 'The request is not valid HTTP/1.1.');
}

export function methodNotAllowed(): AppError {
  return new AppError('method_not_allowed', `Only ${ALLOWED_METHODS} are answered.`);
}

/** Node joins or drops repeated fields, so only the raw ones tell. An empty field names no host. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host' && rawHeaders[at + 1] !== '') hosts += 1;
  }
  return hosts;
}
