import {
  type ChannelRef,
  channelIdRef,
  findHandle,
  findUsername,
  isChannelId,
  refsOfBareIdentifier,
} from './identifier.ts';

/** Hosts whose addresses people paste without their scheme. */
const CHANNEL_HOST = /^(?:(?:www|m|music)\.)?youtube\.com$/i;

/**
 * Reads a channel ID, an `@handle` or a channel page's URL: the channels it may stand for, in the order to try them.
 * Empty when the text is anything else (a search text, above all).
 *
 * A URL with `http` or `https` is read by its path alone, whatever its host: this service answers the paths of channel
 * pages on its own origins, and it is not told here what they are. Without a scheme only upstream's host counts.
 * Paths: `/channel/ID`, `/@handle`, `/user/NAME`, `/c/NAME` (support.google.com/youtube/answer/6180214, seen 2026-11)
 * and this service's own `/ID`, `/api/channel/…` and `/api/banner/…`.
 */
export function channelRefsOf(text: string): ChannelRef[] {
  const trimmed = text.trim();
  if (isChannelId(trimmed)) return [channelIdRef(trimmed)];
  if (trimmed.startsWith('@')) return present(findHandle(trimmed));
  const url = findUrl(trimmed);
  return url === undefined ? [] : refsOfPage(url);
}

/** The same where nothing but a channel can be meant: a bare name is a handle or a user name then. */
export function channelRefsOfName(text: string): ChannelRef[] {
  const refs = channelRefsOf(text);
  return refs.length > 0 ? refs : refsOfBareIdentifier(text.trim());
}

function findUrl(text: string): URL | undefined {
  if (/^https?:\/\//i.test(text)) return URL.parse(text) ?? undefined;
  const host = text.split('/', 1)[0] ?? '';
  return CHANNEL_HOST.test(host) ? (URL.parse(`https://${text}`) ?? undefined) : undefined;
}

function refsOfPage(url: URL): ChannelRef[] {
  const [first = '', second = '', third = ''] = pathSegments(url);
  if (first === 'channel') return isChannelId(second) ? [channelIdRef(second)] : [];
  if (first === 'user') return present(findUsername(second));
  if (first === 'c') return refsOfBareIdentifier(second);
  if (first === 'api' && second === 'banner') return refsOfBareIdentifier(third);
  if (first === 'api' && second === 'channel') return refsOfRecordUrl(third, url.searchParams.get('type'));
  if (first.startsWith('@')) return present(findHandle(first));
  return isChannelId(first) ? [channelIdRef(first)] : [];
}

function refsOfRecordUrl(identifier: string, type: string | null): ChannelRef[] {
  if (type === 'handle') return present(findHandle(identifier));
  if (type === 'username') return present(findUsername(identifier));
  return isChannelId(identifier) ? [channelIdRef(identifier)] : [];
}

function present(ref: ChannelRef | undefined): ChannelRef[] {
  return ref === undefined ? [] : [ref];
}

function pathSegments(url: URL): string[] {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  try {
    return segments.map(decodeURIComponent);
  } catch (error) {
    // Broken percent-escapes: the text is no channel's address.
    if (error instanceof URIError) return [];
    throw error;
  }
}
