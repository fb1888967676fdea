import { channelRefsOf, findUsername, type IdentifierKind, refsOfBareIdentifier } from '../domain/identifier.ts';

/** The channel that a text names, and the path of its record on an instance. */
export interface Identified {
  /** `name`: a handle, or a user name if there is no such handle. */
  readonly kind: IdentifierKind | 'name';
  readonly value: string;
  readonly path: string;
}

/** Longer texts are neither a name nor an address of a channel. */
const MAX_CHARACTERS = 2_000;
const CHANNEL_HOST = /^(?:(?:www|m|music)\.)?youtube\.com\//i;
const VIDEO_HOST = /^(?:(?:www\.)?youtu\.be|(?:www\.)?youtube-nocookie\.com)\//i;
/** First segments of YouTube's paths that are not names of channels. */
const OTHER_PAGES = new Set(
  'about ads c channel clip creators embed feed gaming hashtag howyoutubeworks kids live live_chat movies music new oembed playlist playables post premium redirect results shorts sports t trending upload user v watch'.split(
    ' ',
  ),
);
const VIDEO_PATH = /^\/(?:watch|shorts|live|embed|clip|v)(?:\/|$)/;

/**
 * Reads a typed or pasted text: a channel ID, an @handle, a name, or a channel page's URL. Returns `undefined` for
 * anything else, usually a text to search for.
 */
export function identify(text: string): Identified | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const trimmed = text.trim();
  const [ref, other] = channelRefsOf(trimmed);
  if (ref !== undefined) return identified(other === undefined ? ref.kind : 'name', ref.value);
  const [bare] = refsOfBareIdentifier(nameInOldestForm(trimmed) ?? trimmed);
  return bare && identified('name', bare.value);
}

/** Whether the text is an ID, an @handle or a URL, so that searching for it would waste a request. */
export function isExact(text: string) {
  const found = identify(text);
  return found === undefined ? describeFault(text) !== undefined : found.kind !== 'name';
}

/** Returns why a text that looks like a URL or a handle does not name a channel. Returns `undefined` for any other text. */
export function describeFault(text: string) {
  if (text.length > MAX_CHARACTERS) return 'That text is too long for a name or an address.';
  if (identify(text) !== undefined) return undefined;
  if (text.trim().startsWith('@')) {
    return 'A handle has 1 to 30 letters, digits, “_”, “-”, “.” or “·”, at least one letter or digit.';
  }
  const url = findUrl(text.trim());
  if (url === undefined) return undefined;
  const isVideo =
    VIDEO_HOST.test(`${url.host}/`) || (CHANNEL_HOST.test(`${url.host}/`) && VIDEO_PATH.test(url.pathname));
  if (isVideo) return 'That is a video. Paste the address of its channel.';
  if (url.pathname === '/playlist') return 'That is a playlist. Paste the address of its channel.';
  return 'That address is not one of a channel. Channel addresses contain /@handle or /channel/UC….';
}

function findUrl(text: string): URL | undefined {
  if (/^https?:\/\//i.test(text)) return URL.parse(text) ?? undefined;
  return CHANNEL_HOST.test(text) || VIDEO_HOST.test(text) ? (URL.parse(`https://${text}`) ?? undefined) : undefined;
}

/** `youtube.com/name` is the oldest form of a channel's address. */
function nameInOldestForm(text: string): string | undefined {
  const url = findUrl(text);
  if (url === undefined || !CHANNEL_HOST.test(`${url.host}/`)) return undefined;
  const [, first = ''] = url.pathname.split('/');
  return OTHER_PAGES.has(first.toLowerCase()) ? undefined : findUsername(first)?.value;
}

function identified(kind: Identified['kind'], value: string): Identified {
  const segment = encodeURIComponent(value);
  const paths = {
    id: `/api/channel/${segment}`,
    handle: `/api/channel/${segment}?type=handle`,
    username: `/api/channel/${segment}?type=username`,
    name: `/c/${segment}`,
  };
  return { kind, value, path: paths[kind] };
}
