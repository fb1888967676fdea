import { MAX_HITS } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { comparable, type Identifier } from '../../domain/identifier.ts';
import type { Clock } from '../../lib/clock.ts';
import type { SourceGates } from '../gates.ts';
import {
  type ChannelSource,
  channelNotFound,
  type LoadedChannel,
  type LoadOptions,
  UPSTREAM_CALL_MS,
} from '../source.ts';
import { invalidResponse, judgeReply, type Method } from './judge.ts';

interface YoutubeDataApiOptions {
  readonly clock: Clock;
  readonly gateOf: SourceGates;
  /** It replaces https://www.googleapis.com, and has no trailing slash. */
  readonly origin: string;
  readonly apiKey: string;
}

const MAX_BYTES = 4 * 1024 * 1024;
const CHANNEL_PARTS = 'snippet,statistics,brandingSettings';

/** The filter that finds a channel by each kind of identifier: developers.google.com/youtube/v3/docs/channels/list. There is none for custom names. */
const FILTERS = { id: 'id', handle: 'forHandle', username: 'forUsername', custom: undefined } as const;

/**
 * The official YouTube Data API v3. Its records have no links. Subscriber counts are rounded, as everywhere, and all
 * other values are exact. A lookup returns the complete record.
 */
export function createYoutubeDataApiSource(options: YoutubeDataApiOptions) {
  const { origin, apiKey, gateOf, clock } = options;
  /** A search costs one of the day's searches, any other call one unit (seen 2026-11). */
  const gates = { channels: gateOf('youtube-data-api'), search: gateOf('youtube-data-api searches') };

  /** @param key names the channel or the query */
  async function call<M extends Method>(
    method: M,
    key: string,
    query: Record<string, string>,
    { signal }: LoadOptions,
  ) {
    const request = {
      method: 'GET',
      url: `${origin}/youtube/v3/${method}?${new URLSearchParams(query)}`,
      // A key in the URL would appear in the logs of proxies.
      headers: { 'x-goog-api-key': apiKey },
      timeoutMs: UPSTREAM_CALL_MS,
      maxBytes: MAX_BYTES,
      signal,
    } as const;
    return gates[method].request(request, key, (response) => judgeReply(method, response, clock.now()));
  }

  async function loadChannel(
    identifier: Pick<Identifier, 'kind' | 'value'>,
    load: LoadOptions,
  ): Promise<LoadedChannel> {
    const filter = FILTERS[identifier.kind];
    if (filter === undefined) {
      throw new AppError('upstream_unavailable', 'The official API cannot look up custom names.', {
        scope: 'inconclusive',
      });
    }
    const key = `${identifier.kind} ${identifier.value}`;
    const list = await call('channels', key, { part: CHANNEL_PARTS, [filter]: identifier.value }, load);
    // The API sends an empty or an absent list.
    if (list.items === 0) throw channelNotFound('an empty list');
    const channel = list.found.find(({ channelId }) => identifier.kind !== 'id' || channelId === identifier.value);
    if (channel === undefined) throw invalidResponse('another channel, or one without an ID or a title');
    return { channel, isComplete: true, missing: [] };
  }

  return {
    name: 'youtube-data-api',

    async resolve(identifier, load) {
      const loaded = await loadChannel(identifier, load);
      return { channelId: loaded.channel.channelId, loaded };
    },

    getChannel: (channelId, load) => loadChannel({ kind: 'id', value: channelId }, load),

    async search(query, load) {
      const parameters = { part: 'snippet', type: 'channel', q: query, maxResults: String(MAX_HITS) };
      const list = await call('search', comparable(query), parameters, load);
      if (list.items > 0 && list.found.length === 0) throw invalidResponse('search results without an ID or a title');
      return list.found;
    },
  } satisfies ChannelSource;
}
