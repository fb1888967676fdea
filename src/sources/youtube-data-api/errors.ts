import { AppError } from '../../domain/errors.ts';
import { firstAt, type JsonObject, valuesAt } from '../youtube/json.ts';

const MESSAGES = {
  quota_exceeded: 'The daily quota of the YouTube Data API is spent.',
  rate_limited: 'The YouTube Data API gets too many requests at the moment.',
  key_refused: 'The YouTube Data API does not accept this service’s key.',
  channel_refused: 'The YouTube Data API does not show this channel.',
  refused: 'The YouTube Data API does not answer this service at the moment.',
} as const;

type RefusalReason = keyof typeof MESSAGES;

/** The API refused the call. `reason` is for logs and metrics. */
export class DataApiRefusal extends AppError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, cause: string) {
    // Upstream's own message is never passed on: it may repeat parts of the request.
    const scope = reason === 'channel_refused' ? 'key' : 'upstream';
    super('upstream_unavailable', MESSAGES[reason], { cause: new Error(cause), scope });
    this.name = 'DataApiRefusal';
    this.reason = reason;
  }
}

/** `error.errors[].reason`: developers.google.com/youtube/v3/docs/errors and .../docs/core_errors (seen 2026-11). */
const REASONS: ReadonlyMap<string, RefusalReason> = new Map([
  ['quotaExceeded', 'quota_exceeded'],
  ['dailyLimitExceeded', 'quota_exceeded'],
  ['rateLimitExceeded', 'rate_limited'],
  ['userRateLimitExceeded', 'rate_limited'],
  ['keyInvalid', 'key_refused'],
  ['keyExpired', 'key_refused'],
  ['ipRefererBlocked', 'key_refused'],
  ['accessNotConfigured', 'key_refused'],
]);

/** The reasons of a 403 that concern the channel: developers.google.com/youtube/v3/docs/errors (seen 2026-11). */
const CHANNEL_REFUSALS = new Set(['channelClosed', 'channelForbidden', 'channelNotFound', 'channelSuspended']);

/** The reasons of a 404 for a lookup if there is no such channel. */
const NO_SUCH_CHANNEL = new Set(['channelNotFound', 'notFound']);

export type ApiError = ReturnType<typeof readApiError>;

const MAX_REASONS = 10;
const MAX_REASON_CHARACTERS = 50;

/** The reason in an answer without a list. */
export function readApiError(body: JsonObject) {
  const reasons = valuesAt(body, 'error.errors.*.reason').filter((reason) => typeof reason === 'string');
  const texts = [...valuesAt(body, 'error.details.*.reason'), firstAt(body, 'error.message')];
  return {
    reasons: reasons.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON_CHARACTERS)),
    /** Since 2020 an invalid key is a plain `badRequest`. Only its message or details distinguish it from an invalid channel. */
    isAboutKey: texts.some((text) => typeof text === 'string' && /api[ _]key/i.test(text)),
  };
}

/**
 * Returns for a good answer. `error` is `undefined` for one that is no JSON object.
 *
 * @throws DataApiRefusal if the API refused the call; AppError `channel_not_found` if a lookup found no channel,
 *   `upstream_invalid` for anything else
 */
export function assertServed(status: number, error: ApiError | undefined, method: 'channels' | 'search'): void {
  if (status === 200 && error !== undefined) return;
  const { reasons, isAboutKey } = error ?? { reasons: [], isAboutKey: false };
  const cause = `status ${status}, ${error === undefined ? 'no JSON object' : `reasons [${reasons}]`}`;
  const refusal = findRefusal(status, reasons, isAboutKey);
  if (refusal !== undefined) throw new DataApiRefusal(refusal, cause);
  // Since 2026-01 unknown IDs get 400, like calls with other mistakes, so a 400 says nothing about the channel.
  const isNotFound = status === 404 && reasons.some((reason) => NO_SUCH_CHANNEL.has(reason));
  if (method === 'channels' && isNotFound) {
    throw new AppError('channel_not_found', 'There is no such channel.');
  }
  throw invalidAnswer(cause);
}

export function invalidAnswer(cause: string): AppError {
  return new AppError('upstream_invalid', 'The YouTube Data API sent an unusable answer.', { cause: new Error(cause) });
}

function findRefusal(status: number, reasons: readonly string[], isAboutKey: boolean): RefusalReason | undefined {
  const known = reasons.map((reason) => REASONS.get(reason)).find((reason) => reason !== undefined);
  if (known !== undefined) return known;
  if (status === 403 && reasons.some((reason) => CHANNEL_REFUSALS.has(reason))) return 'channel_refused';
  if (isAboutKey) return 'key_refused';
  if (status === 429) return 'rate_limited';
  const isRefused = status === 401 || status === 403 || status >= 500 || (status >= 300 && status < 400);
  return isRefused ? 'refused' : undefined;
}
