import { extname } from 'node:path';
import { AppError } from '../../domain/errors.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { TIME_LIMITS_MS } from '../../domain/time-limits.ts';
import { createBodyReader } from '../../lib/http/body-reader.ts';
import type { HttpClient } from '../../lib/http/client.ts';
import type { LoadedChannel, LoadOptions, SourceWithDates } from '../source.ts';
import { assertServed, DataApiRefusal, invalidAnswer } from './errors.ts';
import { channels, search } from './parse.ts';
import { createDailyQuota, type DailyQuotaOptions } from './quota.ts';

export interface YoutubeDataApiOptions extends DailyQuotaOptions {
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
/** With the extension of this file: the source runs as `.ts`, compiled code as `.js`. */
const READERS_MODULE = new URL(`./parse${extname(import.meta.url)}`, import.meta.url);

type Method = keyof typeof READERS;
type ListOf<M extends Method> = NonNullable<NonNullable<ReturnType<(typeof READERS)[M]>>['list']>;

/** The filter that finds a channel by each kind of identifier: developers.google.com/youtube/v3/docs/channels/list. */
const FILTERS = { id: 'id', handle: 'forHandle', username: 'forUsername' } as const;

/**
 * The official YouTube Data API v3. Its records have no links. Subscriber counts are rounded, as everywhere, and all
 * other values are exact. A lookup returns the complete record.
 */
export function createYoutubeDataApiSource(options: YoutubeDataApiOptions): SourceWithDates {
  const { http, origin, apiKey } = options;
  const quota = createDailyQuota(options);
  const reader = createBodyReader({ readers: READERS, module: READERS_MODULE });

  async function call<M extends Method>(
    method: M,
    query: Record<string, string>,
    { signal }: LoadOptions,
  ): Promise<ListOf<M>> {
    const allowance = method === 'search' ? 'searches' : 'units';
    quota.spend(allowance);
    const response = await http.request({
      method: 'GET',
      url: `${origin}/youtube/v3/${method}?${new URLSearchParams(query)}`,
      // A key in the URL would appear in the logs of proxies.
      headers: { 'x-goog-api-key': apiKey },
      timeoutMs: TIME_LIMITS_MS.upstreamCall,
      maxBytes: MAX_BYTES,
      signal,
    });
    const answer = await reader.read(method, response.body, signal);
    try {
      assertServed(response.status, answer?.error, method);
    } catch (error) {
      if (error instanceof DataApiRefusal && error.reason === 'quota_exceeded') quota.exhaust(allowance);
      throw error;
    }
    const list = answer?.list;
    if (!list) throw invalidAnswer(method === 'search' ? 'not a list of search results' : 'not a list of channels');
    return list as ListOf<M>;
  }

  async function loadChannel(ref: Pick<ChannelRef, 'kind' | 'value'>, load: LoadOptions): Promise<LoadedChannel> {
    const list = await call('channels', { part: CHANNEL_PARTS, [FILTERS[ref.kind]]: ref.value }, load);
    // The API sends an empty or an absent list.
    if (list.items === 0) throw new AppError('channel_not_found', 'There is no such channel.');
    const channel = list.found.find(({ channelId }) => ref.kind !== 'id' || channelId === ref.value);
    if (channel === undefined) throw invalidAnswer('another channel, or one without an ID or a title');
    return { channel, isComplete: true, missing: [] };
  }

  return {
    name: 'youtube-data-api',
    isLive: true,
    origin,

    async resolve(ref, load) {
      const loaded = await loadChannel(ref, load);
      return { channelId: loaded.channel.channelId, loaded };
    },

    getChannel: (channelId, load) => loadChannel({ kind: 'id', value: channelId }, load),

    async search(query, limit, load) {
      const maxResults = String(Math.min(limit, MAX_RESULTS));
      const list = await call('search', { part: 'snippet', type: 'channel', q: query, maxResults }, load);
      if (list.items > 0 && list.found.length === 0) throw invalidAnswer('search results without an ID or a title');
      return { hits: list.found.slice(0, limit) };
    },

    async findPublishedAt(channelId, load) {
      const { channel } = await loadChannel({ kind: 'id', value: channelId }, load);
      return channel.publishedAt;
    },

    holders: { 'long answers of the official API': reader.stats },
    status: () => ({ quotas: quota.stats() }),
    async close() {
      await Promise.all([http.close(), reader.close()]);
    },
  };
}
