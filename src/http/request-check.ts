import type { IncomingMessage } from 'node:http';
import { AppError } from '../domain/errors.ts';
import { ALLOWED_METHODS } from './answer.ts';
import type { RequestTarget } from './target.ts';

/**
 * What is wrong with a request whatever its path, in this order: malformed, expectation, method.
 */
export function findRequestFault(request: IncomingMessage, target: RequestTarget): AppError | undefined {
  if (target.problem !== undefined) return target.problem;
  const hosts = countHosts(request.rawHeaders);
  if (hosts !== 1) {
    const what = hosts === 0 ? 'no Host field' : 'more than one Host field';
    return new AppError('malformed_request', `The request has ${what}: send exactly one.`);
  }
  const { expect, upgrade } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return new AppError('expectation_failed', 'Only the expectation 100-continue can be met.');
  }
  if (upgrade !== undefined) {
    return new AppError('method_not_allowed', 'No other protocol is spoken here: send the request without Upgrade.');
  }
  return METHODS.has(request.method ?? '') ? undefined : methodNotAllowed();
}

const METHODS: ReadonlySet<string> = new Set(ALLOWED_METHODS.split(', '));

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
