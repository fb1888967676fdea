import type { RequestListener } from 'node:http';
import { answerBytes, answerHtml, answerStatus, FAULTS, redirectTo } from './fake-upstream.ts';

type UpstreamCode = 'upstream_unavailable' | 'upstream_timeout' | 'upstream_invalid';

export interface FailureKind {
  readonly name: string;
  /** The error code if nothing is stored: for a record, a name and a search. */
  readonly channels: UpstreamCode;
  /** The same for a picture. */
  readonly pictures: UpstreamCode;
  /** How every call is answered. */
  readonly upstream: RequestListener | 'refuses connections' | 'has no address';
  /** It lasts until the timeouts. */
  readonly isSlow: boolean;
  /** It affects a process differently. The others differ only in their content. */
  readonly isForShortForm?: boolean;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const UNAVAILABLE = { channels: 'upstream_unavailable', pictures: 'upstream_unavailable', isSlow: false } as const;
const INVALID = { channels: 'upstream_invalid', pictures: 'upstream_invalid', isSlow: false } as const;
const TOO_SLOW = { channels: 'upstream_timeout', pictures: 'upstream_timeout', isSlow: true } as const;

const SHORT_FORM = { isForShortForm: true };

/** Every kind of failure of a whole upstream. */
export const FAILURE_KINDS: readonly FailureKind[] = [
  { name: 'refused connection', upstream: 'refuses connections', ...UNAVAILABLE, ...SHORT_FORM },
  { name: 'name without an address', upstream: 'has no address', ...UNAVAILABLE, ...SHORT_FORM },
  { name: 'reset connection', upstream: FAULTS.resetBeforeAnswer, ...UNAVAILABLE, ...SHORT_FORM },
  { name: 'no answer at all', upstream: FAULTS.hangBeforeHeaders, ...TOO_SLOW, ...SHORT_FORM },
  { name: 'a byte now and then', upstream: FAULTS.slowDrip, ...TOO_SLOW, ...SHORT_FORM },
  { name: '500', upstream: answerStatus(500), ...UNAVAILABLE },
  { name: '429', upstream: answerStatus(429), ...UNAVAILABLE, ...SHORT_FORM },
  { name: '429 with Retry-After: 90', upstream: answerStatus(429, { 'retry-after': '90' }), ...UNAVAILABLE },
  { name: '403', upstream: answerStatus(403), ...UNAVAILABLE },
  { name: 'redirect to consent', upstream: redirectTo('https://consent.youtube.com/m?continue=x'), ...UNAVAILABLE },
  { name: 'redirect to "sorry"', upstream: redirectTo('https://www.google.com/sorry/index'), ...UNAVAILABLE },
  { name: 'captcha page', upstream: answerHtml(), ...UNAVAILABLE, ...SHORT_FORM },
  { name: '404 page', upstream: answerHtml(404), ...UNAVAILABLE },
  { name: 'cut JSON', upstream: answerBytes(Buffer.from('{"header":{"pageHea'), JSON_TYPE), ...INVALID },
  { name: 'cut connection', upstream: FAULTS.resetMidBody, ...INVALID },
  { name: '{}', upstream: answerBytes(Buffer.from('{}'), JSON_TYPE), ...INVALID },
  { name: 'bytes that are no JSON', upstream: answerBytes(Buffer.from([0, 1, 2, 255, 254])), ...INVALID },
  { name: 'bytes that are no HTTP', upstream: FAULTS.garbage, ...INVALID, ...SHORT_FORM },
  { name: 'endless body', upstream: FAULTS.endlessBody, ...INVALID, ...SHORT_FORM },
  { name: 'gzip bomb', upstream: FAULTS.gzipBomb, ...INVALID, ...SHORT_FORM },
];
