export type IdentifierKind = 'id' | 'handle' | 'username';

/** An identifier of a channel in a request. `value` has the form for upstream. `key` is the same for equal identifiers. */
export interface ChannelRef {
  readonly kind: IdentifierKind;
  readonly value: string;
  readonly key: string;
}

/** `UC` and 22 characters of base64url: developers.google.com/youtube/v3/docs/channels#id (seen 2026-11). */
const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/;
/** Letters and digits of any script with `_ - . ·`: support.google.com/youtube/answer/11585688 (seen 2026-11). */
const HANDLE = /^(?=.*[\p{L}\p{N}])[\p{L}\p{M}\p{N}_\-.·]+$/u;
const MAX_HANDLE_CODE_POINTS = 30;
/** An upper bound for 30 code points in any normalization form: each has at most four, of two units each. */
const MAX_UNNORMALIZED_CHARACTERS = 1 + 8 * MAX_HANDLE_CODE_POINTS;
const USERNAME = /^[A-Za-z0-9_.-]{1,60}$/;

export function isChannelId(text: string): boolean {
  return CHANNEL_ID.test(text);
}

export function channelIdRef(channelId: string): ChannelRef {
  return { kind: 'id', value: channelId, key: channelId };
}

/** A handle or user name as one text: `handle:pennant`. */
export function nameOf({ kind, key }: Pick<ChannelRef, 'kind' | 'key'>): string {
  return `${kind}:${key}`;
}

/** Returns the same text for texts that differ only in letter case or in Unicode composition. */
export function comparable(text: string): string {
  // toLowerCase, never toLocaleLowerCase: a Turkish operator's machine must not split "I" from "i". Composed again because
  // some letters, such as "ǰ", are composed in lower case only.
  return text.normalize('NFC').toLowerCase().normalize('NFC');
}

/** Reads a handle with or without its leading `@`. `undefined` for an invalid handle. */
export function findHandle(text: string): ChannelRef | undefined {
  // Normalization takes quadratic time for many combining marks.
  if (text.length > MAX_UNNORMALIZED_CHARACTERS) return undefined;
  const value = (text.startsWith('@') ? text.slice(1) : text).normalize('NFC');
  if (!HANDLE.test(value) || [...value].length > MAX_HANDLE_CODE_POINTS) return undefined;
  return { kind: 'handle', value, key: comparable(value) };
}

/** Reads a legacy user name. `undefined` for an invalid name. */
export function findUsername(text: string): ChannelRef | undefined {
  if (!USERNAME.test(text)) return undefined;
  return { kind: 'username', value: text, key: comparable(text) };
}

/** Reads an identifier as the kind in the request. `undefined` if it is invalid for that kind. */
export function findIdentifier(text: string, kind: IdentifierKind): ChannelRef | undefined {
  if (kind === 'handle') return findHandle(text);
  if (kind === 'username') return findUsername(text);
  return isChannelId(text) ? channelIdRef(text) : undefined;
}

/** The possible readings of a name without a kind, as in `/api/banner/{name}`, in order. Empty for an invalid name. */
export function refsOfBareIdentifier(text: string): ChannelRef[] {
  return isChannelId(text) ? [channelIdRef(text)] : definedRefs(findHandle(text), findUsername(text));
}

/** Hosts whose URLs users paste without a scheme. */
const CHANNEL_HOST = /^(?:(?:www|m|music)\.)?youtube\.com$/i;

/**
 * Reads a channel ID, an `@handle` or the URL of a channel page. Returns the channels that it may name, in the order to
 * try them. Empty for any other text, such as a search text.
 *
 * For a URL with `http` or `https`, only the path is read, whatever the host is: this service serves the paths of
 * channel pages on its own origins, which are not known here. Without a scheme, only upstream's hosts are accepted.
 * Paths: `/channel/ID`, `/@handle`, `/user/NAME`, `/c/NAME` (support.google.com/youtube/answer/6180214, seen 2026-11)
 * and this service's own `/ID`, `/api/channel/…` and `/api/banner/…`. Everything but a channel ID is read without regard to
 * letter case, as YouTube reads it.
 */
export function channelRefsOf(text: string): ChannelRef[] {
  const trimmed = text.trim();
  const url = findUrl(trimmed);
  if (url !== undefined) return refsOfPage(url);
  return definedRefs(findIdentifier(trimmed, trimmed.startsWith('@') ? 'handle' : 'id'));
}

/** Like `channelRefsOf`, but a bare name is read as a handle or a user name, because only a channel is possible. */
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
  const segments = pathSegments(url);
  const [first = '', second = '', third = ''] = segments;
  const [page, endpoint] = segments.map(comparable);
  if (page === 'channel') return definedRefs(findIdentifier(second, 'id'));
  if (page === 'user') return definedRefs(findUsername(second));
  if (page === 'c') return refsOfBareIdentifier(second);
  if (page === 'api' && endpoint === 'banner') return refsOfBareIdentifier(third);
  if (page === 'api' && endpoint === 'channel') {
    const [, type] = [...url.searchParams].find(([name]) => comparable(name) === 'type')?.map(comparable) ?? [];
    return definedRefs(findIdentifier(third, type === 'handle' || type === 'username' ? type : 'id'));
  }
  return definedRefs(findIdentifier(first, first.startsWith('@') ? 'handle' : 'id'));
}

function definedRefs(...refs: readonly (ChannelRef | undefined)[]): ChannelRef[] {
  return refs.filter((ref) => ref !== undefined);
}

function pathSegments(url: URL): string[] {
  try {
    return url.pathname
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    // Broken percent-encoding: the text is not the URL of a channel.
    return [];
  }
}
