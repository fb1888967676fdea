import { isImageUrl, isSizedImageUrl, type OriginalRef, type SearchHit } from '../domain/channel.ts';
import { findHandle, isChannelId } from '../domain/identifier.ts';
import { decoded } from '../domain/pasted.ts';
import type { ImageKind } from '../domain/variants.ts';

const YOUTUBE_HOSTS = ['youtube.com', 'www.youtube.com', 'm.youtube.com'];

/** Reads an http or https URL of YouTube, or a path on it; `undefined` for everything else. */
export function findYoutubeUrl(text: string): URL | undefined {
  if (text.startsWith('/') && !text.startsWith('//')) return findYoutubeUrl(`https://www.youtube.com${text}`);
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isWeb && YOUTUBE_HOSTS.includes(url.hostname) ? url : undefined;
}

/** Reads a channel ID, or the ID in a `/channel/UC…` URL. */
export function parseChannelId(text: string): string | undefined {
  if (isChannelId(text)) return text;
  const [, kind, id = ''] = findYoutubeUrl(text)?.pathname.split('/') ?? [];
  return kind === 'channel' && isChannelId(id) ? id : undefined;
}

/**
 * Reads a handle with its `@` ("@gronkh"), or the handle in a channel page's URL (percent-encoded there). Letter case is
 * kept. `/channel/UC…` and the older `/c/Name` contain no handle.
 */
export function parseHandle(text: string): string | undefined {
  const name = text.startsWith('@') ? text : decoded(findYoutubeUrl(text)?.pathname.split('/')[1] ?? '');
  if (!name?.startsWith('@')) return undefined;
  const handle = findHandle(name);
  return handle === undefined ? undefined : `@${handle.value}`;
}

/** The default image of channels and error pages (seen 2026-07). */
const DEFAULT_AVATAR_PATH = '/a/default-user';

/**
 * Options for the whole image: `s0` is the uploaded original; the second one is used by YouTube’s own pages. Without
 * options the image service sends a smaller copy.
 */
const WHOLE_IMAGE: Readonly<Record<ImageKind, readonly string[]>> = {
  banner: ['s0', 'w2560-fcrop64=1,00000000ffffffff-k-c0xffffffff-no-nd-rj'],
  avatar: ['s0', 's900-c-k-c0x00ffffff-no-rj'],
};

/**
 * The original of an image, by one of its URLs. Its key is the https URL without a query and without size and crop options.
 * `undefined` for the default avatar, and for everything that is not loaded.
 */
export function parseImage(text: unknown, kind: ImageKind): OriginalRef | undefined {
  if (typeof text !== 'string') return undefined;
  const [address = ''] = withScheme(text).split(/[?#]/, 1);
  const [key = ''] = address.split('=', 1);
  const image = URL.parse(key);
  if (image !== null && isSizedImageUrl(image)) {
    const { pathname } = image;
    if (pathname.length < 2 || pathname.startsWith(DEFAULT_AVATAR_PATH)) return undefined;
    return { kind: 'remote', key, urls: WHOLE_IMAGE[kind].map((options) => `${key}=${options}`) };
  }
  const url = URL.parse(address);
  return url !== null && isImageUrl(url) ? { kind: 'remote', key: url.href, urls: [url.href] } : undefined;
}

/** The Data API has named images by `http:` URLs (seen 2026-11), and pages name them without a scheme. */
function withScheme(url: string): string {
  return url.replace(/^(?:http:)?\/\//, 'https://');
}

/** Says whether the channel of a search result has an avatar. @param thumbnail its URL in the result */
export function avatarOfHit(thumbnail: string | undefined): SearchHit['avatar'] {
  if (thumbnail === undefined) return 'unknown';
  return parseImage(thumbnail, 'avatar') === undefined ? 'absent' : 'present';
}
