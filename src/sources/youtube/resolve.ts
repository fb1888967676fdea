import { type ChannelRef, isChannelId } from '../../domain/identifier.ts';
import { channelNotFound, invalid, requireFound } from './answers.ts';
import { type Innertube, YOUTUBE_WEB } from './innertube.ts';
import { findYoutubeUrl, parseChannelId } from './urls.ts';

/** In 2025-07 a handle led to another URL instead of its channel. More than one such redirect was never seen. */
const MAX_HOPS = 3;

/**
 * Resolves a handle or user name to a channel ID.
 *
 * @throws AppError `channel_not_found`, or `upstream_*` if upstream gave no usable answer
 */
export async function resolveChannelId(innertube: Innertube, ref: ChannelRef, signal: AbortSignal): Promise<string> {
  let url = pageUrl(ref);
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    const answer = await innertube.resolveUrl(url, signal);
    const { browseId, target } = requireFound(answer, 'resolve_url', NOT_UNDERSTOOD);
    if (browseId !== undefined) {
      if (isChannelId(browseId)) return browseId;
      throw channelNotFound(`${url} is the page ${browseId}`);
    }
    const next = requireNextUrl(target);
    const channelId = parseChannelId(next);
    if (channelId !== undefined) return channelId;
    url = next;
  }
  throw invalid('The video site redirects this name too often.');
}

function pageUrl({ kind, value }: ChannelRef): string {
  if (kind === 'id') return `${YOUTUBE_WEB}/channel/${value}`;
  return `${YOUTUBE_WEB}/${kind === 'handle' ? '@' : 'user/'}${encodeURIComponent(value)}`;
}

const NOT_UNDERSTOOD = 'The video site did not understand the request for this name.';

function requireNextUrl(target: string | undefined): string {
  if (target === undefined) throw invalid('The video site sent an answer without a channel or a URL.');
  const url = findYoutubeUrl(target);
  if (url === undefined) throw invalid('The video site redirects this name to another site.');
  return `${YOUTUBE_WEB}${url.pathname}${url.search}`;
}
