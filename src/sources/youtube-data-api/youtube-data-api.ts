import { AppError } from '../../domain/errors.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { type Breaker, UnexplainedRefusalError } from '../../lib/breaker.ts';
import type { Clock } from '../../lib/clock.ts';
import { type HttpClient, type HttpResponse, readRetryAfterMs } from '../../lib/http/http-client.ts';
import { isMarkup } from '../json.ts';
import type { ChannelSource, LoadedChannel, LoadOptions } from '../source.ts';
import { UPSTREAM_CALL_MS } from '../source.ts';
import { channels, search } from './parse.ts';
import { type Allowance, msUntilNewQuota } from './quota.ts';

export interface YoutubeDataApiOptions {
  readonly clock: Clock;
  /** The breaker of each allowance. Is open until a spent quota is renewed. */
  readonly breakers: Readonly<Record<Allowance, Breaker>>;
  /** Must not follow redirects, which would get the key. Closed with the source. */
  readonly http: HttpClient;
  /** Replaces https://www.googleapis.com; without a trailing slash. */
  readonly origin: string;
  readonly apiKey: string;
}

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_RESULTS = 50;
const CHANNEL_PARTS = 'snippet,statistics,brandingSettings';

const READERS = { channels, search };

type Method = keyof typeof READERS;
type ApiError = NonNullable<ReturnType<(typeof READERS)[Method]>>['error'];
type ListOf<M extends Method> = NonNullable<NonNullable<ReturnType<(typeof READERS)[M]>>['list']>;

/** The filter that finds a channel by each kind of identifier: developers.google.com/youtube/v3/docs/channels/list. There is none for custom names. */
const FILTERS = { id: 'id', handle: 'forHandle', username: 'forUsername', custom: undefined } as const;

/**
 * The official YouTube Data API v3. Its records have no links. Subscriber counts are rounded, as everywhere, and all
 * other values are exact. A lookup returns the complete record.
 */
export function createYoutubeDataApiSource(options: YoutubeDataApiOptions) {
  const { http, origin, apiKey, breakers, clock } = options;

  async function call<M extends Method>(method: M, query: Record<string, string>, { signal }: LoadOptions) {
    const allowance = method === 'search' ? 'searches' : 'units';
    const response = await http.request({
      method: 'GET',
      url: `${origin}/youtube/v3/${method}?${new URLSearchParams(query)}`,
      // A key in the URL would appear in the logs of proxies.
      headers: { 'x-goog-api-key': apiKey },
      timeoutMs: UPSTREAM_CALL_MS,
      maxBytes: MAX_BYTES,
      signal,
    });
    const { status, body } = response;
    if (isMarkup(body) && status < 500) throw refused(response, allowance, `HTML with status ${status}`);
    const reply = READERS[method](body);
    if (status !== 200 || reply === null) {
      const refusal = findRefusal(status, reply?.error);
      if (refusal === 'quota_exceeded') {
        const nowMs = clock.now();
        throw breakers[allowance].openUntil(nowMs + msUntilNewQuota(nowMs));
      }
      const isRedirect = status >= 300 && status < 400;
      if (refusal === 'rate_limited' || (refusal === 'refused' && isRedirect)) {
        throw refused(response, allowance, `status ${status}`);
      }
      if (refusal === 'refused' && status === 403) throw new UnexplainedRefusalError(MESSAGES.refused, 'status 403');
      throw failureOf(status, reply?.error, refusal, method);
    }
    const { list } = reply;
    if (list === null)
      throw invalidResponse(method === 'search' ? 'not a list of search results' : 'not a list of channels');
    return list as ListOf<M>;
  }

  /** The API refuses this address, for calls of this allowance. */
  const refused = ({ headers }: HttpResponse, allowance: Allowance, what: string) =>
    breakers[allowance].refuse(what, readRetryAfterMs(headers));

  async function loadChannel(ref: Pick<ChannelRef, 'kind' | 'value'>, load: LoadOptions): Promise<LoadedChannel> {
    const filter = FILTERS[ref.kind];
    if (filter === undefined) {
      throw new AppError('upstream_unavailable', 'The official API cannot look up custom names.', { scope: 'answer' });
    }
    const list = await call('channels', { part: CHANNEL_PARTS, [filter]: ref.value }, load);
    // The API sends an empty or an absent list.
    if (list.items === 0) throw noSuchChannel();
    const channel = list.found.find(({ channelId }) => ref.kind !== 'id' || channelId === ref.value);
    if (channel === undefined) throw invalidResponse('another channel, or one without an ID or a title');
    return { channel, isComplete: true, missing: [] };
  }

  return {
    name: 'youtube-data-api',
    origin,

    async resolve(ref, load) {
      const loaded = await loadChannel(ref, load);
      return { channelId: loaded.channel.channelId, loaded };
    },

    getChannel: (channelId, load) => loadChannel({ kind: 'id', value: channelId }, load),

    async search(query, limit, load) {
      const maxResults = String(Math.min(limit, MAX_RESULTS));
      const list = await call('search', { part: 'snippet', type: 'channel', q: query, maxResults }, load);
      if (list.items > 0 && list.found.length === 0) throw invalidResponse('search results without an ID or a title');
      return list.found.slice(0, limit);
    },

    close: () => http.close(),
  } satisfies ChannelSource;
}

/** Upstream's own message is never passed on: it may repeat parts of the request. */
const MESSAGES = {
  key_refused: 'The YouTube Data API does not accept this service’s key.',
  channel_refused: 'The YouTube Data API does not show this channel.',
  refused: 'The YouTube Data API refuses this service at the moment.',
} as const;

type Refusal = keyof typeof MESSAGES | 'rate_limited' | 'quota_exceeded';

/** `error.errors[].reason`: developers.google.com/youtube/v3/docs/errors and .../docs/core_errors (seen 2026-11). */
const REASONS: ReadonlyMap<string, Refusal> = new Map([
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

/** Why the API refused the call; `undefined` if it failed in another way. */
function findRefusal(status: number, error: ApiError | undefined): Refusal | undefined {
  const reasons = error?.reasons ?? [];
  if ((status === 429 || status === 403) && error?.isAboutDay) return 'quota_exceeded';
  const known = reasons.map((reason) => REASONS.get(reason)).find((reason) => reason !== undefined);
  if (known !== undefined) return known;
  if (status === 403 && reasons.some((reason) => CHANNEL_REFUSALS.has(reason))) return 'channel_refused';
  if (error?.isAboutKey) return 'key_refused';
  if (status === 429) return 'rate_limited';
  const isRefused = status === 401 || status === 403 || status >= 500 || (status >= 300 && status < 400);
  return isRefused ? 'refused' : undefined;
}

/** The error for an unusable reply: `channel_not_found` only if a lookup found no channel. */
function failureOf(
  status: number,
  error: ApiError | undefined,
  refusal: keyof typeof MESSAGES | undefined,
  method: Method,
) {
  const cause = `status ${status}, ${error === undefined ? 'no JSON object' : `reasons [${error.reasons}]`}`;
  if (refusal !== undefined) {
    const scope = refusal === 'channel_refused' ? 'answer' : 'upstream';
    return new AppError('upstream_unavailable', MESSAGES[refusal], { cause: new Error(cause), scope });
  }
  // Since 2026-01 unknown IDs get 400, like calls with other mistakes, so a 400 says nothing about the channel.
  const isNotFound = status === 404 && error?.reasons.some((reason) => NO_SUCH_CHANNEL.has(reason));
  if (isNotFound && method === 'channels') return noSuchChannel();
  const isAnswer = (status === 400 || status === 404) && error !== undefined && error.reasons.length > 0;
  return invalidResponse(cause, isAnswer ? 'answer' : 'key');
}

function noSuchChannel(): AppError {
  return new AppError('channel_not_found', 'There is no such channel.');
}

function invalidResponse(cause: string, scope: 'key' | 'answer' = 'key'): AppError {
  const options = { cause: new Error(cause), scope };
  return new AppError('upstream_invalid', 'The YouTube Data API sent an unusable reply.', options);
}
