/** The channel that a text names, and the path of its record on an instance. */
export interface Identified {
  /** `name`: a handle, or a user name if there is no such handle. */
  readonly kind: 'id' | 'handle' | 'username' | 'name';
  readonly value: string;
  readonly path: string;
}

/** Longer texts are neither a name nor an address of a channel. */
const MAX_CHARACTERS = 2_000;
const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/;
const HANDLE = /^(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}_\-.·]{1,30}$/u;
const USERNAME = /^[A-Za-z0-9_.-]{1,60}$/;
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
  // Normalization takes quadratic time for many combining marks.
  if (text.length > MAX_CHARACTERS) return undefined;
  const trimmed = text.trim().normalize('NFC');
  const url = findUrl(trimmed);
  if (url !== undefined) return identifyPage(url);
  if (CHANNEL_ID.test(trimmed)) return identified('id', trimmed);
  if (trimmed.startsWith('@')) return findHandle(trimmed.slice(1));
  return HANDLE.test(trimmed) || USERNAME.test(trimmed) ? identified('name', trimmed) : undefined;
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

function identifyPage(url: URL): Identified | undefined {
  const [first = '', second = ''] = segmentsOf(url);
  if (first.startsWith('@')) return findHandle(first.slice(1));
  // YouTube ignores the letter case of the page's kind.
  const page = first.toLowerCase();
  if (page === 'channel' && CHANNEL_ID.test(second)) return identified('id', second);
  if (page === 'user' && USERNAME.test(second)) return identified('username', second);
  if (page === 'c' && second !== '') return identified('name', second);
  if (CHANNEL_ID.test(first)) return identified('id', first);
  // youtube.com/name is the oldest form of a channel's address.
  const isName = CHANNEL_HOST.test(`${url.host}/`) && !OTHER_PAGES.has(page) && USERNAME.test(first);
  return isName ? identified('name', first) : undefined;
}

function segmentsOf(url: URL) {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  try {
    return segments.map(decodeURIComponent);
  } catch {
    // No channel's address has broken percent-escapes.
    return [];
  }
}

function findHandle(value: string) {
  return HANDLE.test(value) ? identified('handle', value) : undefined;
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
