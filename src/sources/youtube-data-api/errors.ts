import { AppError } from '../../domain/errors.ts';
import type { HttpResponse } from '../../lib/http-client.ts';
import { firstAt, isJsonObject, type JsonObject, valuesAt } from '../youtube/json.ts';

export type RefusalReason = 'quota_exceeded' | 'rate_limited' | 'key_refused' | 'channel_refused' | 'refused';

/** The API did not serve us; `reason` names why, for logs and metrics. */
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

const MESSAGES: Record<RefusalReason, string> = {
  quota_exceeded: 'The daily quota of the YouTube Data API is spent.',
  rate_limited: 'The YouTube Data API is asked too often at the moment.',
  key_refused: 'The YouTube Data API does not accept this service’s key.',
  channel_refused: 'The YouTube Data API does not show this channel.',
  refused: 'The YouTube Data API does not answer this service at the moment.',
};

/** `error.errors[].reason`: developers.google.com/youtube/v3/docs/errors and .../docs/core_errors (seen 2026-11). */
const REASONS: Readonly<Record<string, RefusalReason>> = {
  quotaExceeded: 'quota_exceeded',
  dailyLimitExceeded: 'quota_exceeded',
  rateLimitExceeded: 'rate_limited',
  userRateLimitExceeded: 'rate_limited',
  keyInvalid: 'key_refused',
  keyExpired: 'key_refused',
  ipRefererBlocked: 'key_refused',
  accessNotConfigured: 'key_refused',
};

/** What is answered with 403 where the channel is the reason: developers.google.com/youtube/v3/docs/errors (seen 2026-11). */
const CHANNEL_REFUSALS = new Set(['channelClosed', 'channelForbidden', 'channelNotFound', 'channelSuspended']);

/** What a look-up is answered with 404 for when there is no such channel. */
const NO_SUCH_CHANNEL = new Set(['channelNotFound', 'notFound']);

/**
 * The JSON object of a good answer.
 *
 * @throws DataApiRefusal when the API does not serve us; AppError `channel_not_found` when it says of a look-up that
 *   there is no such channel, `upstream_invalid` for anything else
 */
export function readApiBody(response: HttpResponse, method: 'channels' | 'search'): JsonObject {
  const { status } = response;
  const body = findJsonObject(response.body);
  if (status === 200 && body !== undefined) return body;
  const refusal = findRefusal(status, body);
  if (refusal !== undefined) throw refusal;
  const reasons = reasonsOf(body);
  // Since 2026-01 unknown IDs get 400, and so do calls that are wrong in other ways: it says nothing about the channel.
  const isNotFound = status === 404 && reasons.some((reason) => NO_SUCH_CHANNEL.has(reason));
  if (method === 'channels' && isNotFound) {
    throw new AppError('channel_not_found', 'There is no such channel.');
  }
  throw invalidAnswer(`status ${status}, ${body === undefined ? 'no JSON object' : `reasons [${reasons}]`}`);
}

export function invalidAnswer(cause: string): AppError {
  return new AppError('upstream_invalid', 'The YouTube Data API sent an unusable answer.', { cause: new Error(cause) });
}

function findRefusal(status: number, body: JsonObject | undefined): DataApiRefusal | undefined {
  const reasons = reasonsOf(body);
  const cause = `status ${status}, reasons [${reasons}]`;
  const known = reasons.map((reason) => REASONS[reason]).find((reason) => reason !== undefined);
  if (known !== undefined) return new DataApiRefusal(known, cause);
  if (status === 403 && reasons.some((reason) => CHANNEL_REFUSALS.has(reason))) {
    return new DataApiRefusal('channel_refused', cause);
  }
  if (isAboutKey(body)) return new DataApiRefusal('key_refused', cause);
  if (status === 429) return new DataApiRefusal('rate_limited', cause);
  const isRefused = status === 401 || status === 403 || status >= 500 || (status >= 300 && status < 400);
  return isRefused ? new DataApiRefusal('refused', cause) : undefined;
}

/** Since 2020 a wrong key is a plain `badRequest`, told from a wrong channel by its message or details only. */
function isAboutKey(body: JsonObject | undefined): boolean {
  const texts = [...valuesAt(body, 'error.details.*.reason'), firstAt(body, 'error.message')];
  return texts.some((text) => typeof text === 'string' && /api[ _]key/i.test(text));
}

function reasonsOf(body: JsonObject | undefined): string[] {
  const reasons = valuesAt(body, 'error.errors.*.reason');
  return reasons.filter((reason) => typeof reason === 'string').map((reason) => reason.slice(0, 50));
}

function findJsonObject(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
