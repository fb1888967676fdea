import { type OriginalRef, pictureVersion, type SearchHit } from '../../domain/channel.ts';
import { findHandle, isChannelId } from '../../domain/identifier.ts';

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
    // The escapes are not UTF-8.
    return undefined;
  }
}

/** The default picture of channels and error pages (seen 2026-07). */
const DEFAULT_AVATAR_PATH = '/a/default-user';

/**
 * The identity of a picture: its https URL up to the first `=`. Only size and crop options follow after it. `undefined`
 * for the default avatar and everything that is not an https URL.
 */
export function parsePictureBase(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [base = ''] = (value.startsWith('//') ? `https:${value}` : value).split(/[=?#]/);
  const url = URL.parse(base);
  if (url?.protocol !== 'https:' || url.pathname.length < 2) return undefined;
  return isDefaultAvatar(base) ? undefined : base;
}

export function isDefaultAvatar(pictureUrl: string): boolean {
  const absolute = pictureUrl.startsWith('//') ? `https:${pictureUrl}` : pictureUrl;
  return URL.parse(absolute)?.pathname.startsWith(DEFAULT_AVATAR_PATH) === true;
}

/**
 * Options for the whole picture: `s0` is the uploaded original; the second one is used by upstream's own pages. Without
 * options the image service sends a smaller copy.
 */
const BANNER_OPTIONS = ['s0', 'w2560-fcrop64=1,00000000ffffffff-k-c0xffffffff-no-nd-rj'];
const AVATAR_OPTIONS = ['s0', 's900-c-k-c0x00ffffff-no-rj'];

/** The original of a picture, by one of its URLs; `undefined` like `parsePictureBase`. */
export function parsePicture(url: unknown, original: (base: string) => OriginalRef): OriginalRef | undefined {
  const base = parsePictureBase(url);
  return base === undefined ? undefined : original(base);
}

export function bannerOriginal(base: string): OriginalRef {
  return original(base, BANNER_OPTIONS);
}

export function avatarOriginal(base: string): OriginalRef {
  return original(base, AVATAR_OPTIONS);
}

function original(base: string, options: readonly string[]): OriginalRef {
  return { kind: 'remote', key: base, urls: options.map((option) => `${base}=${option}`) };
}

/** @param thumbnail URL of the avatar in search results */
export function avatarOfHit(thumbnail: string | undefined): Pick<SearchHit, 'avatar' | 'avatarVersion'> {
  if (thumbnail === undefined) return { avatar: 'unknown' };
  if (isDefaultAvatar(thumbnail)) return { avatar: 'absent' };
  return { avatar: 'present', avatarVersion: pictureVersion(parsePicture(thumbnail, avatarOriginal) ?? null) };
}
