import type { RequestListener } from 'node:http';
import { FAULTS, redirectTo, respondWithBytes, respondWithHtml, respondWithStatus } from './fake-upstream.ts';

const [UNAVAILABLE, TIMEOUT, INVALID] = ['upstream_unavailable', 'upstream_timeout', 'upstream_invalid'] as const;

export interface FailureKind {
  readonly name: string;
  /** The error code if nothing is stored: for a record, a name, a search and an image. */
  readonly code: typeof UNAVAILABLE | typeof TIMEOUT | typeof INVALID;
  /** The response to every call. Those with a time-out last until the service gives up. */
  readonly upstream: RequestListener | 'refuses connections' | 'has no address';
}

/** The resolver refuses the name without a question to a name server: a label has at most 63 characters (RFC 1035, 2.3.4). */
export const ORIGIN_WITHOUT_ADDRESS = `http://${'upstream'.repeat(8)}.invalid`;

const JSON_TYPE = { 'content-type': 'application/json' };

/** Every kind of failure of a whole upstream. */
export const FAILURE_KINDS: readonly FailureKind[] = [
  { name: 'refused connection', upstream: 'refuses connections', code: UNAVAILABLE },
  { name: 'name without an address', upstream: 'has no address', code: UNAVAILABLE },
  { name: 'reset connection', upstream: FAULTS.resetBeforeResponse, code: UNAVAILABLE },
  { name: 'no response at all', upstream: FAULTS.hangBeforeHeaders, code: TIMEOUT },
  { name: 'a byte now and then', upstream: FAULTS.slowDrip, code: TIMEOUT },
  { name: '500', upstream: respondWithStatus(500), code: UNAVAILABLE },
  { name: '429', upstream: respondWithStatus(429), code: UNAVAILABLE },
  { name: '429 with Retry-After: 90', upstream: respondWithStatus(429, { 'retry-after': '90' }), code: UNAVAILABLE },
  { name: '403', upstream: respondWithStatus(403), code: UNAVAILABLE },
  { name: 'redirect to "sorry"', upstream: redirectTo('https://www.google.com/sorry/index'), code: UNAVAILABLE },
  { name: 'captcha page', upstream: respondWithHtml(), code: UNAVAILABLE },
  { name: '404 page', upstream: respondWithHtml(404), code: UNAVAILABLE },
  { name: 'cut JSON', upstream: respondWithBytes(Buffer.from('{"header":{"pageHea'), JSON_TYPE), code: INVALID },
  { name: 'cut connection', upstream: FAULTS.resetMidBody, code: INVALID },
  { name: '{}', upstream: respondWithBytes(Buffer.from('{}'), JSON_TYPE), code: INVALID },
  { name: 'bytes that are no JSON', upstream: respondWithBytes(Buffer.from([0, 1, 2, 255, 254])), code: INVALID },
  { name: 'bytes that are no HTTP', upstream: FAULTS.garbage, code: INVALID },
  { name: 'endless body', upstream: FAULTS.endlessBody, code: INVALID },
  { name: 'gzip bomb', upstream: FAULTS.gzipBomb, code: INVALID },
];
