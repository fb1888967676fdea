import type { ChannelRef } from '../../domain/identifier.ts';
import { isChannelId } from '../../domain/identifier.ts';
import { type ApiAnswer, channelNotFound, invalid } from './answers.ts';
import { findYoutubeUrl, parseChannelId } from './identities.ts';
import { type Innertube, YOUTUBE_WEB } from './innertube.ts';
import { firstAt, type JsonObject } from './json.ts';

/** A handle answered with another URL instead of its channel in 2025-07; more than one such step was never seen. */
const MAX_HOPS = 3;

/**
 * Asks which channel a handle or a user name belongs to.
 *
 * @throws AppError `channel_not_found`, or `upstream_*` when upstream could not tell.
 */
export async function resolveChannelId(innertube: Innertube, ref: ChannelRef, signal: AbortSignal): Promise<string> {
  let url = pageUrl(ref);
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    const endpoint = readEndpoint(await innertube.resolveUrl(url, signal));
    const browseId = firstAt(endpoint, 'browseEndpoint.browseId');
    if (typeof browseId === 'string') {
      if (isChannelId(browseId)) return browseId;
      throw channelNotFound(`${url} is the page ${browseId}`);
    }
    const next = readNextUrl(endpoint);
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

function readEndpoint(answer: ApiAnswer): unknown {
  if (answer.kind === 'object') return requireEndpoint(answer.body);
  if (answer.status === 404 && answer.reason === 'NOT_FOUND') throw channelNotFound('resolve_url: NOT_FOUND');
  throw invalid('The video site did not understand the question for this name.', new Error(answer.reason));
}

function requireEndpoint(body: JsonObject): unknown {
  const endpoint = firstAt(body, 'endpoint');
  if (endpoint === undefined) throw invalid('The video site sent an answer without a channel or an address.');
  return endpoint;
}

function readNextUrl(endpoint: unknown): string {
  const target = firstAt(endpoint, 'urlEndpoint.url');
  const url = typeof target === 'string' ? findYoutubeUrl(target) : undefined;
  if (url === undefined) throw invalid('The video site sent this name to an address that is not its own.');
  return `${YOUTUBE_WEB}${url.pathname}${url.search}`;
}
