import { isIPv6 } from 'node:net';
import { AppError } from '../../domain/errors.ts';
import { decoded } from '../../domain/pasted.ts';

/** A request's target, read once before its path is used. */
export interface RequestTarget {
  /** The path for the router, without empty segments and a slash at the end. Its escapes are unchanged. */
  readonly path: string;
  /** The query with its question mark, or an empty text. */
  readonly query: string;
  /** The authority of an absolute-form target (RFC 9112 section 3.2.2). It is used instead of `Host`. */
  readonly authority: string | undefined;
  /** Why the target is invalid. */
  readonly problem: AppError | undefined;
}

/** Proxies and browsers truncate longer ones anyway. */
export const MAX_URL_BYTES = 8_192;
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

export function parseTarget(rawUrl: string): RequestTarget {
  const absolute = rawUrl.startsWith('/') ? null : ABSOLUTE_FORM.exec(rawUrl);
  const [origin = '', authority] = absolute ?? [];
  const relative = rawUrl.slice(origin.length);
  const queryAt = relative.indexOf('?');
  const rawPath = queryAt === -1 ? relative : relative.slice(0, queryAt);
  const query = queryAt === -1 ? '' : relative.slice(queryAt);
  const path = absolute !== null && rawPath === '' ? '/' : rawPath;
  const problem = rawUrl.length > MAX_URL_BYTES ? URL_TOO_LONG : findProblem(authority, path, query);
  if (problem !== undefined) return { path: '/', query: '', authority, problem };
  return { path: dropEmptySegments(path), query, authority, problem };
}

const URL_TOO_LONG = new AppError('request_too_large', `The URL is longer than ${MAX_URL_BYTES} bytes.`);

export function malformed(reason: string): AppError {
  return new AppError('malformed_request', reason);
}

function dropEmptySegments(path: string): string {
  if (path === '/') return path;
  const withoutEmpty = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  return withoutEmpty.endsWith('/') && withoutEmpty !== '/' ? withoutEmpty.slice(0, -1) : withoutEmpty;
}

const SEPARATOR_OR_NUL = /%2f|%5c|%00|[\\\0]/i;
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i;

function findProblem(authority: string | undefined, path: string, query: string): AppError | undefined {
  if (!path.startsWith('/')) return malformed('The request target is neither a path nor an absolute URL.');
  if (authority === '') return malformed('The absolute URL has no host.');
  if (path.includes('#')) return malformed('The path contains a "#": leave the fragment out.');
  if (isBroken(path)) return malformed('The path contains a broken percent-escape or broken UTF-8.');
  if (SEPARATOR_OR_NUL.test(path)) return malformed(UNUSABLE_CHARACTER);
  if (DOT_SEGMENT.test(path)) return malformed('The path contains a dot segment: write the path without it.');
  if (isBroken(query)) return malformed('The query contains a broken percent-escape or broken UTF-8.');
  return undefined;
}

function isBroken(escaped: string): boolean {
  return escaped.includes('%') && decoded(escaped) === undefined;
}

const UNUSABLE_CHARACTER =
  'The path contains an encoded slash, a backslash or a NUL: none of them can be part of a name.';

type Scheme = 'http' | 'https';

const DEFAULT_PORTS: Readonly<Record<Scheme, number>> = { http: 80, https: 443 };

/**
 * Finds the base of the URLs in a response: the operator's base URL whose origin is that of the request, else one whose host
 * is, else the first. Without base URLs the base is the request's origin, and empty if the authority is unusable.
 *
 * @param baseUrls the operator's base URLs
 * @returns a function of the client's name for the service: `Host`, or the authority of an absolute target
 */
export function createBaseFinder(baseUrls: readonly string[]) {
  const known = new Map<string, string>();
  // Of several bases with one name, the first is used.
  for (const baseUrl of baseUrls.toReversed()) for (const name of namesOf(baseUrl)) known.set(name, baseUrl);
  const [first] = baseUrls;

  return (authority: string, scheme: Scheme): string => {
    const origin = originOf(authority, scheme);
    if (first === undefined) return origin;
    return known.get(origin) ?? known.get(authority.toLowerCase()) ?? first;
  };
}

/** A base's origin, and its host for clients whose scheme is not known. */
function namesOf(baseUrl: string): readonly string[] {
  const { origin, host, port, protocol } = new URL(baseUrl);
  const names = [origin, host];
  return port === '' ? [...names, `${host}:${DEFAULT_PORTS[protocol.slice(0, -1) as Scheme]}`] : names;
}

/** A domain name has at most 253 characters (RFC 1035 section 2.3.4), and a port adds six. */
const MAX_AUTHORITY_CHARACTERS = 260;
const NAME_OR_ADDRESS_WITH_PORT = /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?|\[([0-9a-f:.]{2,45})\])(?::(\d{1,5}))?$/i;
const MAX_PORT = 65_535;

/**
 * The origin of a name or address with an optional port. Empty for any other text, which others would see in URLs.
 */
function originOf(authority: string, scheme: Scheme): string {
  if (authority.length > MAX_AUTHORITY_CHARACTERS) return '';
  const [, host, ipv6, digits] = NAME_OR_ADDRESS_WITH_PORT.exec(authority) ?? [];
  if (host === undefined || (ipv6 !== undefined && !isIPv6(ipv6))) return '';
  const port = Number(digits ?? DEFAULT_PORTS[scheme]);
  if (port < 1 || port > MAX_PORT) return '';
  const origin = `${scheme}://${host.toLowerCase()}`;
  return port === DEFAULT_PORTS[scheme] ? origin : `${origin}:${digits}`;
}
