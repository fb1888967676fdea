import { isIP } from 'node:net';
import { isJsonObject } from '../../sources/youtube/json.ts';

/*
 * What of an answer may be written down: members with known names only, and of their texts nothing that could be a
 * token, an address or a key. Recordings are meant for a public repository.
 */

/** What stands for the About token of a page, so that a recording still shows where it was. */
const TOKEN_NAME = 'token';
const TOKEN = 'recorded-token';

/** Upstream nests 40 levels at most. */
const MAX_DEPTH = 100;
const MAX_TEXT_CHARACTERS = 20_000;

/** @param names of members that are kept; everything below a member with another name is left out */
export function redact(value: unknown, names: ReadonlySet<string>, depth = 0): unknown {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return redactList(value, names, depth);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => names.has(name));
  return Object.fromEntries(
    kept.map(([name, member]) => [name, name === TOKEN_NAME ? TOKEN : redact(member, names, depth + 1)]),
  );
}

/** Elements of which nothing is left are dropped: a page has hundreds of videos. */
function redactList(list: readonly unknown[], names: ReadonlySet<string>, depth: number): unknown[] {
  return list
    .map((element) => redact(element, names, depth + 1))
    .filter((element) => !isJsonObject(element) || Object.keys(element).length > 0);
}

/** Of a channel's page, absolute or not: names may be long and escaped. */
const CHANNEL_PATH = /^\/(?:@|channel\/|user\/|c\/)[^/?#]{1,300}$/;

function redactText(text: string): string {
  if (text.length > MAX_TEXT_CHARACTERS) return '';
  if (CHANNEL_PATH.test(text)) return text;
  const url = text.startsWith('//') ? URL.parse(`https:${text}`) : URL.parse(text);
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  return isWeb ? redactUrl(url) : withoutSecrets(text);
}

/** Hosts of channels' pictures: what names a picture looks like a token. */
const PICTURE_HOST = /^(?:yt3\.ggpht\.com|(?:yt3|lh3)\.googleusercontent\.com)$/;

/** Without its query, which may hold anything; of the redirector only where it leads to. */
function redactUrl(url: URL): string {
  const { origin, hostname, pathname, searchParams } = url;
  const isYoutube = /(?:^|\.)youtube\.com$/.test(hostname);
  if (PICTURE_HOST.test(hostname) || (isYoutube && CHANNEL_PATH.test(pathname))) return `${origin}${pathname}`;
  const target = isYoutube && pathname === '/redirect' ? URL.parse(searchParams.get('q') ?? '') : null;
  const query = target === null ? '' : `?q=${encodeURIComponent(redactUrl(target))}`;
  return `${withoutSecrets(`${origin}${pathname}`)}${query}`;
}

/** Whatever is too long for a word and has no blanks: tokens, visitor data, cookies, signatures, keys. */
const OPAQUE = /[\w%+=~-]{30,}/g;
const QUERY = /[?#][\w%&=+.~/-]{8,}/g;
const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,200}/g;
const ADDRESS = /[\da-f:.]{7,45}/gi;

function withoutSecrets(text: string): string {
  return text
    .replace(EMAIL, 'someone@example.com')
    .replace(ADDRESS, (found) => (isIP(found.replace(/[.:]$/, '')) === 0 ? found : '192.0.2.1'))
    .replace(QUERY, '')
    .replace(OPAQUE, '(left out)');
}
