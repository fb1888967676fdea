import { isIPv6 } from 'node:net';
import { AppError } from '../../domain/errors.ts';

/** A request's target, read once, before anything looks at its path. */
export interface RequestTarget {
  /** Path for the router: empty segments and a trailing slash dropped, escapes as they came. */
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly query: string;
  /** Of an absolute-form target (RFC 9112 section 3.2.2); it then counts instead of `Host`. */
  readonly authority: string | undefined;
  /** Why the target cannot be used. */
  readonly problem: AppError | undefined;
}

/** Proxies and browsers cut longer ones anyway. */
export const MAX_URL_BYTES = 8_192;
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)/i;

export function parseTarget(rawUrl: string): RequestTarget {
  if (rawUrl.length > MAX_URL_BYTES) {
    return unusable(urlTooLong());
  }
  const absolute = rawUrl.startsWith('/') ? null : ABSOLUTE_FORM.exec(rawUrl);
  const origin = absolute?.[0] ?? '';
  const relative = rawUrl.slice(origin.length);
  const queryAt = relative.indexOf('?');
  const rawPath = queryAt === -1 ? relative : relative.slice(0, queryAt);
  const query = queryAt === -1 ? '' : relative.slice(queryAt);
  const path = absolute !== null && rawPath === '' ? '/' : rawPath;
  if (!path.startsWith('/')) return unusable(noTarget());
  if (absolute?.[1] === '') return unusable(new AppError('malformed_request', 'The absolute URL names no host.'));
  const reason = findPathFault(path) ?? findQueryFault(query);
  if (reason !== undefined) return unusable(new AppError('malformed_request', reason));
  return { path: dropEmptySegments(path), query, authority: absolute?.[1], problem: undefined };
}

export function noTarget(): AppError {
  return new AppError('malformed_request', 'The request target is neither a path nor an absolute URL.');
}

export function urlTooLong(): AppError {
  return new AppError('request_too_large', `The URL is longer than ${MAX_URL_BYTES} bytes.`);
}

function unusable(problem: AppError): RequestTarget {
  return { path: '/', query: '', authority: undefined, problem };
}

function dropEmptySegments(path: string): string {
  if (path === '/') return path;
  const withoutEmpty = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  return withoutEmpty.endsWith('/') && withoutEmpty !== '/' ? withoutEmpty.slice(0, -1) : withoutEmpty;
}

/** What no path can be faulty without: an escape, a backslash, a dot segment. */
const SUSPICIOUS = /[%\\]|\/\.{1,2}(?:\/|$)/;

function findPathFault(path: string): string | undefined {
  if (path.includes('#')) return 'The path holds a "#": leave the fragment out.';
  if (!SUSPICIOUS.test(path)) return undefined;
  for (const segment of path.split('/')) {
    const decoded = decode(segment);
    if (decoded === undefined) return 'The path holds a broken percent-escape or broken UTF-8.';
    if (/[/\\\0]/.test(decoded))
      return 'The path holds an encoded slash, a backslash or a NUL: none of them can be part of a name.';
    if (decoded === '.' || decoded === '..') return 'The path holds a dot segment: write the path without it.';
  }
  return undefined;
}

function findQueryFault(query: string): string | undefined {
  if (!query.includes('%') || decode(query) !== undefined) return undefined;
  return 'The query holds a broken percent-escape or broken UTF-8.';
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

export interface BaseUrlOptions {
  /** The operator's origins; none: each request's own. */
  readonly baseUrls: readonly string[];
}

export interface BaseUrls {
  /** For answers to requests that do not say which host they ask: the first of the operator's origins, or empty. */
  readonly fallback: string;
  /**
   * The origin that URLs in the answer start with, or `undefined` when it would have to be made of an unusable
   * authority.
   *
   * @param authority what the client calls the service: `Host`, or the authority of an absolute target
   */
  find(authority: string, scheme: 'http' | 'https'): string | undefined;
}

export function createBaseUrls({ baseUrls }: BaseUrlOptions): BaseUrls {
  const byAuthority = new Map(baseUrls.map((baseUrl) => [new URL(baseUrl).host, baseUrl]));
  const [first] = baseUrls;
  return {
    fallback: first ?? '',
    find(authority, scheme) {
      if (first !== undefined) return byAuthority.get(authority.toLowerCase()) ?? first;
      return isUsable(authority) ? `${scheme}://${authority.toLowerCase()}` : undefined;
    },
  };
}

/** A domain name has at most 253 characters (RFC 1035 section 2.3.4), and a port adds six. */
const MAX_AUTHORITY_CHARACTERS = 260;
const NAME_WITH_PORT = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?\.?(?::(\d{1,5}))?$/i;
const IPV6_WITH_PORT = /^\[([0-9a-f:.]{2,45})\](?::(\d{1,5}))?$/i;
const MAX_PORT = 65_535;

/** A name or address, perhaps with a port: anything else could end up in a URL that others are shown. */
function isUsable(authority: string): boolean {
  if (authority.length > MAX_AUTHORITY_CHARACTERS) return false;
  const name = NAME_WITH_PORT.exec(authority);
  if (name !== null) return isPort(name[1]);
  const address = IPV6_WITH_PORT.exec(authority);
  return address !== null && isIPv6(address[1] ?? '') && isPort(address[2]);
}

function isPort(text: string | undefined): boolean {
  return text === undefined || (Number(text) >= 1 && Number(text) <= MAX_PORT);
}
