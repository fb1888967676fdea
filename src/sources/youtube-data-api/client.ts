import type { ChannelRef } from '../../domain/identifier.ts';
import type { Clock } from '../../lib/clock.ts';
import type { HttpClient } from '../../lib/http-client.ts';
import type { DatingSource, LoadedChannel, LoadOptions } from '../source.ts';
import type { JsonObject } from '../youtube/json.ts';
import { DataApiRefusal, readApiBody } from './errors.ts';
import { parseChannelList, parseSearchList } from './parse.ts';
import { createDailyQuota } from './quota.ts';

export interface YoutubeDataApiOptions {
  /** Must not follow redirects: the key would go along. Closed with the source. */
  readonly http: HttpClient;
  /** Replaces https://www.googleapis.com; without a trailing slash. */
  readonly origin: string;
  readonly apiKey: string;
  readonly clock: Clock;
  /** What the key's project may spend a day on anything but searches; each call costs one unit. */
  readonly unitsPerDay: number;
  readonly searchesPerDay: number;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_RESULTS = 50;
const CHANNEL_PARTS = 'snippet,statistics,brandingSettings';

/** The filter that finds a channel by each kind of identifier: developers.google.com/youtube/v3/docs/channels/list. */
const FILTERS = { id: 'id', handle: 'forHandle', username: 'forUsername' } as const;

/**
 * The official YouTube Data API v3. Its records have no links; its subscriber counts are rounded as everywhere, all else
 * is exact. A look-up brings the whole record along.
 */
export function createYoutubeDataApiSource(options: YoutubeDataApiOptions): DatingSource {
  const { http, origin, apiKey } = options;
  const quota = createDailyQuota(options);

  async function call(
    method: 'channels' | 'search',
    query: Record<string, string>,
    { signal }: LoadOptions,
  ): Promise<JsonObject> {
    const allowance = method === 'search' ? 'searches' : 'units';
    quota.spend(allowance);
    const response = await http.request({
      method: 'GET',
      url: `${origin}/youtube/v3/${method}?${new URLSearchParams(query)}`,
      // A key in the URL would show in every log of URLs on the way.
      headers: { 'x-goog-api-key': apiKey },
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal,
    });
    try {
      return readApiBody(response, method);
    } catch (error) {
      if (error instanceof DataApiRefusal && error.reason === 'quota_exceeded') quota.exhaust(allowance);
      throw error;
    }
  }

  async function loadChannel(ref: Pick<ChannelRef, 'kind' | 'value'>, load: LoadOptions): Promise<LoadedChannel> {
    const body = await call('channels', { part: CHANNEL_PARTS, [FILTERS[ref.kind]]: ref.value }, load);
    const channel = parseChannelList(body, ref.kind === 'id' ? ref.value : undefined);
    return { channel, isComplete: true, missing: [] };
  }

  return {
    name: 'youtube-data-api',
    isLive: true,

    async resolve(ref, load) {
      const loaded = await loadChannel(ref, load);
      return { channelId: loaded.channel.channelId, loaded };
    },

    getChannel: (channelId, load) => loadChannel({ kind: 'id', value: channelId }, load),

    async search(query, limit, load) {
      const maxResults = String(Math.min(limit, MAX_RESULTS));
      const body = await call('search', { part: 'snippet', type: 'channel', q: query, maxResults }, load);
      return { hits: parseSearchList(body).slice(0, limit) };
    },

    async findPublishedAt(channelId, load) {
      const { channel } = await loadChannel({ kind: 'id', value: channelId }, load);
      return channel.publishedAt;
    },

    status: () => ({ quotas: quota.stats() }),
    close: () => http.close(),
  };
}
