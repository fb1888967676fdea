import { isIPv6 } from 'node:net';

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
