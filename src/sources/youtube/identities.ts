import { findHandle, isChannelId } from '../../domain/identifier.ts';

const YOUTUBE_HOSTS = ['youtube.com', 'www.youtube.com', 'm.youtube.com'];

/** Reads an absolute http or https URL of YouTube's, or a path on it; `undefined` for anything else. */
export function findYoutubeUrl(text: string): URL | undefined {
  if (text.startsWith('/') && !text.startsWith('//')) return findYoutubeUrl(`https://www.youtube.com${text}`);
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && YOUTUBE_HOSTS.includes(url.hostname) ? url : undefined;
}

/** A channel ID as it is or out of a `/channel/UC…` URL. */
export function parseChannelId(text: string): string | undefined {
  if (isChannelId(text)) return text;
  const [, kind, id = ''] = findYoutubeUrl(text)?.pathname.split('/') ?? [];
  return kind === 'channel' && isChannelId(id) ? id : undefined;
}

/**
 * A handle with its `@`, as it is ("@gronkh") or out of a channel page's URL (percent-encoded there), in upstream's
 * letter case. `/channel/UC…` and the older `/c/Name` name no handle.
 */
export function parseHandle(text: string): string | undefined {
  const name = text.startsWith('@') ? text : handleSegment(text);
  if (name === undefined || !name.startsWith('@')) return undefined;
  const handle = findHandle(name);
  return handle === undefined ? undefined : `@${handle.value}`;
}

function handleSegment(text: string): string | undefined {
  const segment = findYoutubeUrl(text)?.pathname.split('/')[1];
  try {
    return segment === undefined ? undefined : decodeURIComponent(segment);
  } catch {
    // Escapes that are no UTF-8 name no handle.
    return undefined;
  }
}
