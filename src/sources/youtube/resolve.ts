import { type ChannelRef, isChannelId } from '../../domain/identifier.ts';
import { type ApiAnswer, channelNotFound, invalid } from './answers.ts';
import { type Innertube, YOUTUBE_WEB } from './innertube.ts';
import type { EndpointReading } from './readings.ts';
import { findYoutubeUrl, parseChannelId } from './urls.ts';

/** In 2025-07 a handle led to another URL instead of its channel. More than one such step was never seen. */
const MAX_HOPS = 3;

/**
 * Resolves a handle or user name to a channel ID.
 *
 * @throws AppError `channel_not_found`, or `upstream_*` if upstream gave no usable answer
 */
export async function resolveChannelId(innertube: Innertube, ref: ChannelRef, signal: AbortSignal): Promise<string> {
  let url = pageUrl(ref);
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    const { browseId, target } = requireEndpoint(await innertube.resolveUrl(url, signal));
    if (browseId !== undefined) {
      if (isChannelId(browseId)) return browseId;
      throw channelNotFound(`${url} is the page ${browseId}`);
    }
    const next = requireNextUrl(target);
    const channelId = parseChannelId(next);
    if (channelId !== undefined) return channelId;
    url = next;
  }
  throw invalid('The video site sends this name from one address to the next.');
}

function pageUrl({ kind, value }: ChannelRef): string {
  if (kind === 'id') return `${YOUTUBE_WEB}/channel/${value}`;
  return `${YOUTUBE_WEB}/${kind === 'handle' ? '@' : 'user/'}${encodeURIComponent(value)}`;
}

function requireEndpoint(answer: ApiAnswer<EndpointReading | null>): EndpointReading {
  if (answer.kind === 'refusal') {
    if (answer.status === 404 && answer.reason === 'NOT_FOUND') throw channelNotFound('resolve_url: NOT_FOUND');
    throw invalid('The video site did not understand the question for this name.', new Error(answer.reason));
  }
  if (answer.value === null) throw invalid('The video site sent an answer without a channel or an address.');
  return answer.value;
}

function requireNextUrl(target: string | undefined): string {
  const url = target === undefined ? undefined : findYoutubeUrl(target);
  if (url === undefined) throw invalid('The video site sent this name to an address that is not its own.');
  return `${YOUTUBE_WEB}${url.pathname}${url.search}`;
}
