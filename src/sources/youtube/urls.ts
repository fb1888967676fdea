import type { OriginalRef } from '../../domain/channel.ts';
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

/** What upstream shows for a channel or an error page without a picture (seen 2026-07): never a channel's own. */
const DEFAULT_AVATAR_PATH = '/a/default-user';

/**
 * A picture's name: its https URL up to the first `=`, after which only size and crop options follow.
 * `undefined` for the default avatar and anything that is not an https URL.
 */
export function parsePictureBase(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const [base = ''] = (value.startsWith('//') ? `https:${value}` : value).split(/[=?#]/);
  if (!URL.canParse(base)) return undefined;
  const url = new URL(base);
  if (url.protocol !== 'https:' || url.pathname.length < 2) return undefined;
  return isDefaultAvatar(base) ? undefined : base;
}

export function isDefaultAvatar(pictureUrl: string): boolean {
  const absolute = pictureUrl.startsWith('//') ? `https:${pictureUrl}` : pictureUrl;
  return URL.canParse(absolute) && new URL(absolute).pathname.startsWith(DEFAULT_AVATAR_PATH);
}

/**
 * Options that give the whole picture: `s0`, the master as it was uploaded, then a form that upstream's own pages use.
 * Without options the image service sends a copy of reduced size.
 */
const BANNER_OPTIONS = ['s0', 'w2560-fcrop64=1,00000000ffffffff-k-c0xffffffff-no-nd-rj'];
const AVATAR_OPTIONS = ['s0', 's900-c-k-c0x00ffffff-no-rj'];

export function bannerOriginal(base: string): OriginalRef {
  return original(base, BANNER_OPTIONS);
}

export function avatarOriginal(base: string): OriginalRef {
  return original(base, AVATAR_OPTIONS);
}

function original(base: string, options: readonly string[]): OriginalRef {
  return { kind: 'remote', key: base, urls: options.map((option) => `${base}=${option}`) };
}
