import { AppError } from '../../domain/errors.ts';
import type { Verdict } from '../../lib/breaker.ts';
import { type HttpResponse, readRetryAfterMs } from '../../lib/http/http-client.ts';
import { isMarkup } from '../json.ts';
import { channelNotFound } from '../source.ts';
import { channels, search } from './parse.ts';

const READERS = { channels, search };

export type Method = keyof typeof READERS;
type Reply<M extends Method> = NonNullable<ReturnType<(typeof READERS)[M]>>;
type ApiError = Reply<Method>['error'];

/** What a response says: its list, or an error about its key only. */
export function judgeReply<M extends Method>(
  method: M,
  response: HttpResponse,
  nowMs: number,
): Verdict<NonNullable<Reply<M>['list']>> {
  const { status, headers, body } = response;
  const waitMs = readRetryAfterMs(headers);
  if (isMarkup(body) && status < 500) return { kind: 'refused', detail: `HTML with status ${status}`, waitMs };
  const reply = READERS[method](body) as Reply<M> | null;
  if (status === 200 && reply !== null) {
    const what = method === 'search' ? 'search results' : 'channels';
    return { kind: 'answered', value: reply.list ?? invalidResponse(`not a list of ${what}`) };
  }
  const kind = judgeError(status, reply?.error);
  const detail = `status ${status}, ${reply === null ? 'no JSON object' : `reasons [${reply.error.reasons}]`}`;
  if (kind === 'answered') return { kind, value: answerAbout(status, reply?.error.reasons ?? [], method, detail) };
  return { kind, detail, waitMs: kind === 'quota' ? msUntilNewQuota(nowMs) : waitMs };
}

/** `error.errors[].reason`: developers.google.com/youtube/v3/docs/errors and .../docs/core_errors (seen 2026-11). */
const REASONS: ReadonlyMap<string, 'quota' | 'refused' | 'failing'> = new Map([
  ['quotaExceeded', 'quota'],
  ['dailyLimitExceeded', 'quota'],
  ['rateLimitExceeded', 'refused'],
  ['userRateLimitExceeded', 'refused'],
  // It refuses the key.
  ['keyInvalid', 'failing'],
  ['keyExpired', 'failing'],
  ['ipRefererBlocked', 'failing'],
  ['accessNotConfigured', 'failing'],
]);

/** The reasons of a 403 that concern the channel: developers.google.com/youtube/v3/docs/errors (seen 2026-11). */
const CHANNEL_REFUSALS = new Set(['channelClosed', 'channelForbidden', 'channelNotFound', 'channelSuspended']);

/** The reasons of a 404 for a lookup if there is no such channel. */
const NO_SUCH_CHANNEL = new Set(['channelNotFound', 'notFound']);

function judgeError(status: number, error: ApiError | undefined): Verdict<unknown>['kind'] {
  const reasons = error?.reasons ?? [];
  if ((status === 429 || status === 403) && error?.isAboutDay) return 'quota';
  const known = reasons.map((reason) => REASONS.get(reason)).find((kind) => kind !== undefined);
  if (known !== undefined) return known;
  if (status === 403 && reasons.some((reason) => CHANNEL_REFUSALS.has(reason))) return 'answered';
  if (error?.isAboutKey || status === 401 || status >= 500) return 'failing';
  if (status === 429 || (status >= 300 && status < 400)) return 'refused';
  if (status === 403) return 'unexplained';
  return error === undefined ? 'unreadable' : 'answered';
}

function answerAbout(status: number, reasons: readonly string[], method: Method, detail: string): AppError {
  if (status === 403) {
    const options = { cause: new Error(detail), scope: 'inconclusive' } as const;
    return new AppError('upstream_unavailable', 'The YouTube Data API does not show this channel.', options);
  }
  // Since 2026-01 unknown IDs get 400, like calls with other mistakes, so a 400 says nothing about the channel.
  const isNotFound = status === 404 && reasons.some((reason) => NO_SUCH_CHANNEL.has(reason));
  if (isNotFound && method === 'channels') return channelNotFound(detail);
  const isAnswer = (status === 400 || status === 404) && reasons.length > 0;
  return invalidResponse(detail, isAnswer ? 'inconclusive' : 'key');
}

export function invalidResponse(detail: string, scope: 'key' | 'inconclusive' = 'key'): AppError {
  const options = { cause: new Error(detail), scope };
  return new AppError('upstream_invalid', 'The YouTube Data API sent an unusable reply.', options);
}

const DAY_MS = 86_400_000;
const PACIFIC = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/**
 * The time until quotas are renewed, at midnight in Pacific time: developers.google.com/youtube/v3/getting-started#quota (seen
 * 2026-11). Wrong by an hour on the two days a year when the clocks change.
 */
function msUntilNewQuota(nowMs: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = PACIFIC.format(nowMs).split(':').map(Number);
  return DAY_MS - ((hours * 60 + minutes) * 60 + seconds) * 1_000;
}
