import {
  findHandle,
  findUsername,
  type Identifier,
  identifierOfId,
  identifiersOfBareName,
  identifiersOfCustomName,
  isChannelId,
} from './identifier.ts';

/** A longer text names no channel. */
export const MAX_PASTED_CHARACTERS = 2_048;

/**
 * What a pasted text names: a channel, as the identifiers to try in their order, or another page. A channel's address of a wrong
 * form, such as `/channel/UC1`, is another page.
 */
export type Pasted =
  | { readonly names: 'channel'; readonly identifiers: readonly Identifier[] }
  | { readonly names: 'video' | 'playlist' | 'other page' };

/**
 * Reads a channel ID with or without its `UC`, an uploads list (`UU…`), an `@handle` or the address of a page, with or without
 * scheme, brackets, quotes and punctuation around it. `undefined` for any other text, such as a name or a search text.
 */
export function readPasted(text: string): Pasted | undefined {
  if (text.length > MAX_PASTED_CHARACTERS) return undefined;
  const bare = withoutSurroundings(text).replace(/^＠/, '@');
  if (/^(?:@|%40)/.test(bare)) return channelOf(findHandle(decoded(bare) ?? ''));
  const url = findUrl(bare);
  return url === undefined ? channelOf(findId(bare)) : readAddress(url);
}

/** The channels that a pasted text may name, in the order to try them. Empty for any other text. */
export function identifiersIn(text: string): readonly Identifier[] {
  const pasted = readPasted(text);
  return pasted?.names === 'channel' ? pasted.identifiers : [];
}

/** Like `identifiersIn`, but a bare name is read as a handle or a user name, because only a channel is possible. */
export function identifiersOfName(text: string): readonly Identifier[] {
  const identifiers = identifiersIn(text);
  return identifiers.length > 0 ? identifiers : identifiersOfBareName(withoutSurroundings(text));
}

const BEFORE = /[\s<([{"'“”„‘’«»`\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;
const AFTER = /[\s>)\]}"'“”„‘’«»`.,;\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;

function withoutSurroundings(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && BEFORE.test(text.charAt(start))) start += 1;
  while (end > start && AFTER.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/**
 * An ID without its `UC`: the base64url of 16 bytes, whose last character is one of four. Without a capital letter after the
 * first letter the text is a word.
 */
const BARE_ID = /^(?=.+[A-Z])(?=.*[a-z])[\w-]{21}[AQgw]$/;

/** The ID in `UC…`, in the name of an uploads list (`UU…`), or without these letters. */
export function findChannelId(text: string): string | undefined {
  if (isChannelId(text)) return text;
  if (/^UU[\w-]{22}$/.test(text)) return `UC${text.slice(2)}`;
  return BARE_ID.test(text) ? `UC${text}` : undefined;
}

const CHANNEL_HOSTS = /^(?:(?:www|m|music|studio)\.)?youtube\.com$/;
const VIDEO_HOSTS = /^(?:www\.)?(?:youtu\.be|youtube-nocookie\.com)$/;
const WRAPPING_HOSTS = /^(?:consent\.(?:youtube|google)\.com|(?:www\.)?google\.com|(?:(?:www|m)\.)?youtube\.com)$/;

function findUrl(text: string): URL | undefined {
  if (/^https?:\/\//i.test(text)) return URL.parse(text) ?? undefined;
  const address = text.replace(/^\/\//, '');
  const [host = ''] = address.toLowerCase().split(/[/?#]/, 1);
  const isKnown = [CHANNEL_HOSTS, VIDEO_HOSTS, WRAPPING_HOSTS].some((hosts) => hosts.test(host));
  return isKnown ? (URL.parse(`https://${address}`) ?? undefined) : undefined;
}

/** The address in a consent page's, `google.com/url`'s or `youtube.com/redirect`'s. */
function findTarget({ hostname, pathname, searchParams }: URL): string | undefined {
  if (!WRAPPING_HOSTS.test(hostname)) return undefined;
  if (hostname.startsWith('consent.')) return searchParams.get('continue') ?? undefined;
  if (pathname !== (hostname.endsWith('google.com') ? '/url' : '/redirect')) return undefined;
  return searchParams.get('q') ?? searchParams.get('url') ?? undefined;
}

/** First segments of YouTube's paths that are not names of channels (seen 2026-11). */
const OTHER_PAGES = new Set(
  'about account ads clip creators embed feed feeds gaming hashtag howyoutubeworks kids live live_chat movies music new oembed playables playlist post premium redirect results shorts signin sports t trending upload v watch'.split(
    ' ',
  ),
);
const VIDEO_PAGES = new Set(['watch', 'shorts', 'live', 'embed', 'clip', 'v']);

/** Reads the path without regard to letter case, as YouTube does. */
function readAddress(address: URL): Pasted {
  const target = findTarget(address);
  const url = target === undefined ? address : (URL.parse(target) ?? address);
  const [first = '', second = ''] = url.pathname
    .split('/')
    .map((segment) => withoutSurroundings(decoded(segment) ?? ''))
    .filter((segment) => segment !== '');
  const page = first.toLowerCase();
  const parameter = (name: string) => findId(url.searchParams.get(name) ?? '');
  if (page === 'embed' && second === 'live_stream') return channelOf(parameter('channel')) ?? OTHER_PAGE;
  if (VIDEO_HOSTS.test(url.hostname)) return { names: 'video' };
  if (!CHANNEL_HOSTS.test(url.hostname)) return OTHER_PAGE;
  if (page === 'feeds') return channelOf(parameter('channel_id')) ?? OTHER_PAGE;
  if (page === 'playlist') return channelOf(parameter('list')) ?? { names: 'playlist' };
  const isOneVideo = second !== '' || url.searchParams.has('v');
  if (VIDEO_PAGES.has(page) && isOneVideo) return { names: 'video' };
  return channelOf(...identifiersOfPage(page, first, second)) ?? OTHER_PAGE;
}

const OTHER_PAGE: Pasted = { names: 'other page' };

function identifiersOfPage(page: string, first: string, second: string): readonly (Identifier | undefined)[] {
  const name = first.replace(/^＠/, '@');
  if (name.startsWith('@')) return [findHandle(name)];
  if (page === 'channel') return [second.startsWith('@') ? findHandle(second) : findId(second)];
  if (page === 'user') return [findUsername(second)];
  if (page === 'c') return identifiersOfCustomName(second);
  if (OTHER_PAGES.has(page)) return [];
  return identifiersOfCustomName(name);
}

function findId(text: string): Identifier | undefined {
  const channelId = findChannelId(text);
  return channelId === undefined ? undefined : identifierOfId(channelId);
}

function channelOf(...found: readonly (Identifier | undefined)[]): Pasted | undefined {
  const identifiers = found.filter((identifier) => identifier !== undefined);
  return identifiers.length > 0 ? { names: 'channel', identifiers } : undefined;
}

/** The text without its percent-escapes; `undefined` if these are broken or not UTF-8. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
