/**
 * @typedef {object} Identified What a text names, and the path of its record on an instance.
 * @property {'id' | 'handle' | 'username' | 'name'} kind `name`: a handle or, where there is none, a user name
 * @property {string} value
 * @property {string} path
 */

/** Longer texts are no name and no address of a channel. */
const MAX_CHARACTERS = 2_000;
const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/;
const HANDLE = /^(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}_\-.·]{1,30}$/u;
const USERNAME = /^[A-Za-z0-9_.-]{1,60}$/;
const CHANNEL_HOST = /^(?:(?:www|m|music)\.)?youtube\.com\//i;

/**
 * Reads what somebody typed or pasted: a channel ID, an @handle, a name, or a channel page's URL. `undefined` for
 * anything else, above all a text to search for.
 *
 * @param {string} text
 * @returns {Identified | undefined}
 */
export function identify(text) {
  // Normalizing takes time with the square of the length where many marks combine.
  if (text.length > MAX_CHARACTERS) return undefined;
  const trimmed = text.trim().normalize('NFC');
  const url = findUrl(trimmed);
  if (url !== undefined) return identifyPage(url);
  if (CHANNEL_ID.test(trimmed)) return identified('id', trimmed);
  if (trimmed.startsWith('@')) return findHandle(trimmed.slice(1));
  return HANDLE.test(trimmed) || USERNAME.test(trimmed) ? identified('name', trimmed) : undefined;
}

/**
 * Whether the text can only be meant as one channel's name, so that searching for it would be a wasted request.
 *
 * @param {string} text
 */
export function isExact(text) {
  const found = identify(text);
  return found !== undefined && found.kind !== 'name';
}

/**
 * @param {string} text
 * @returns {URL | undefined}
 */
function findUrl(text) {
  if (/^https?:\/\//i.test(text)) return URL.parse(text) ?? undefined;
  return CHANNEL_HOST.test(text) ? (URL.parse(`https://${text}`) ?? undefined) : undefined;
}

/**
 * @param {URL} url
 * @returns {Identified | undefined}
 */
function identifyPage(url) {
  const [first = '', second = ''] = segmentsOf(url);
  if (first.startsWith('@')) return findHandle(first.slice(1));
  if (first === 'channel' && CHANNEL_ID.test(second)) return identified('id', second);
  if (first === 'user' && USERNAME.test(second)) return identified('username', second);
  if (first === 'c' && second !== '') return identified('name', second);
  return CHANNEL_ID.test(first) ? identified('id', first) : undefined;
}

/** @param {URL} url */
function segmentsOf(url) {
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  try {
    return segments.map(decodeURIComponent);
  } catch {
    // Broken percent-escapes: no channel's address.
    return [];
  }
}

/** @param {string} value */
function findHandle(value) {
  return HANDLE.test(value) ? identified('handle', value) : undefined;
}

/**
 * @param {Identified['kind']} kind
 * @param {string} value
 * @returns {Identified}
 */
function identified(kind, value) {
  const segment = encodeURIComponent(value);
  const paths = {
    id: `/api/channel/${segment}`,
    handle: `/api/channel/${segment}?type=handle`,
    username: `/api/channel/${segment}?type=username`,
    name: `/c/${segment}`,
  };
  return { kind, value, path: paths[kind] };
}
