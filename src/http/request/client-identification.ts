import type { Socket } from 'node:net';
import {
  type Cidr,
  createNetworkTable,
  formatAddress,
  isPrivateAddress,
  NETWORK_IPV6_BITS,
  networkOf,
  parseAddress,
} from '../../lib/ip-addresses.ts';
import type { ClientLimit, RateLimit } from '../../rate-limit/limiter.ts';

/**
 * The client behind a request: the socket's address, unless that is a trusted proxy. Then all lines of `X-Forwarded-For` are
 * read as one and walked from the right: the first address that is not trusted; at an invalid entry or the end, the last
 * trusted one. An empty entry is invalid too: if it were skipped, the author of the text to its left could choose the address.
 */
export type IdentifyClient = (socket: Peer, forwardedFor: string | readonly string[] | undefined) => Client;

type Peer = Pick<Socket, 'remoteAddress'>;

interface ClientIdentificationOptions {
  readonly trustedProxies: readonly Cidr[];
  /** The leading bits of an IPv6 address that identify a client, 1–128. */
  readonly ipv6PrefixBits: number;
  readonly defaultLimit: RateLimit;
  /** The override with the longest prefix is used. */
  readonly limitOverrides: readonly { readonly range: Cidr; readonly limit: ClientLimit }[];
  /** Called once, with the first private address that is not a trusted proxy and sends `X-Forwarded-For`. */
  readonly onUntrustedProxy?: (address: string) => void;
}

/** The client that a request counts for. */
export interface Client {
  /** In canonical form. The socket's own text if that is not an address (a Unix socket). */
  readonly address: string;
  /** The key of one subscriber: an IPv4 address (also inside a NAT64 one), or an IPv6 network (`2001:db8::/64`). */
  readonly key: string;
  /**
   * The network whose clients share a turn in the round robin: `203.0.113.0/24` or `2001:db8:17::/48`. A client with an
   * override is a network of its own.
   */
  readonly network: string;
  readonly limit: ClientLimit;
  /** Whether the socket's address is that of a trusted proxy. */
  readonly isOfProxy: boolean;
}

/** An address on the way of a request: the socket's, or one in `X-Forwarded-For`. */
interface Hop extends Omit<Client, 'isOfProxy'> {
  readonly isTrusted: boolean;
}

export function createClientIdentification(options: ClientIdentificationOptions): IdentifyClient {
  const { trustedProxies, ipv6PrefixBits, defaultLimit, limitOverrides, onUntrustedProxy } = options;
  const findProxy = createNetworkTable(trustedProxies.map((network) => [network, true] as const));
  const findLimit = createNetworkTable(limitOverrides.map(({ range, limit }) => [range, limit] as const));
  /** The address of a connection is read once. */
  const peers = new WeakMap<Peer, Hop>();
  let hasReportedProxy = false;

  function readHop(text: string): Hop | undefined {
    const parsed = parseAddress(text);
    if (parsed === undefined) return undefined;
    const address = formatAddress(parsed);
    const key = parsed.kind() === 'ipv4' ? address : networkOf(parsed, ipv6PrefixBits);
    const override = findLimit(parsed);
    const network = override === undefined ? networkOf(parsed, Math.min(NETWORK_IPV6_BITS, ipv6PrefixBits)) : key;
    return { address, key, network, isTrusted: findProxy(parsed) === true, limit: override ?? defaultLimit };
  }

  function readPeer(socket: Peer): Hop {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const { remoteAddress: text = 'unknown' } = socket;
    const unknown = { address: text, key: text, network: text, limit: defaultLimit, isTrusted: false };
    const peer = readHop(text) ?? unknown;
    peers.set(socket, peer);
    return peer;
  }

  return (socket, forwardedFor) => {
    const peer = readPeer(socket);
    if (forwardedFor !== undefined && !peer.isTrusted && !hasReportedProxy && isPrivateAddress(peer.address)) {
      hasReportedProxy = true;
      onUntrustedProxy?.(peer.address);
    }
    const list = typeof forwardedFor === 'string' ? forwardedFor : (forwardedFor?.join(',') ?? '');
    let client = peer;
    for (let end = list.length; end >= 0 && client.isTrusted; ) {
      const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
      const entry = list.slice(comma + 1, end).trim();
      const hop = readHop(entry) ?? readHop(hostOf(entry));
      if (hop === undefined) break;
      client = hop;
      end = comma;
    }
    return { ...client, isOfProxy: peer.isTrusted };
  };
}

/** The client of the playground on the private listener: without a limit, but it takes turns with all others. */
export const OPERATOR: Client = {
  address: 'operator',
  key: 'operator',
  network: 'operator',
  limit: 'unlimited',
  isOfProxy: false,
};

const HOST_WITH_PORT = /^(?:\[([^[\]]*)\]|([\d.]+))(?::\d{1,5})?$/;

/** The address in `1.2.3.4:5678`, `[2001:db8::1]:443` or either of them quoted. Any other text is returned unchanged. */
function hostOf(entry: string): string {
  const isQuoted = entry.length >= 2 && entry.startsWith('"') && entry.endsWith('"');
  const host = isQuoted ? entry.slice(1, -1) : entry;
  const match = HOST_WITH_PORT.exec(host);
  return match?.[1] ?? match?.[2] ?? host;
}
