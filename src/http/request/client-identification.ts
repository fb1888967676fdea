import { type Cidr, isPrivateAddress } from '../../lib/ip-ranges.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import type { ClientLimit, RateLimit } from '../../rate-limit/limiter.ts';
import { createNetworkTable, formatAddress, NETWORK_IPV6_BITS, networkOf, parseAddress } from './ip-addresses.ts';

/** Which client a request counts for. */
export interface ClientIdentification {
  /**
   * The client behind a request: the socket's address, unless that is a trusted proxy. Then all lines of
   * `X-Forwarded-For` are read as one and walked from the right: the first address that is not trusted; at an invalid
   * entry or the end, the last trusted one. An empty entry is invalid too: if it were skipped, the author of the
   * text to its left could choose the address.
   */
  identify(socketAddress: string, forwardedFor: string | readonly string[] | undefined): Client;
}

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

/** Addresses that are not read again. To read one takes 2 µs, a tenth of a hot response. */
const MAX_HOPS = 1_000;

export function createClientIdentification(options: ClientIdentificationOptions): ClientIdentification {
  const { trustedProxies, ipv6PrefixBits, defaultLimit, limitOverrides, onUntrustedProxy } = options;
  const findProxy = createNetworkTable(trustedProxies.map((network) => [network, true] as const));
  const findLimit = createNetworkTable(limitOverrides.map(({ range, limit }) => [range, limit] as const));
  const hops = new Map<string, Hop>();
  let hasReportedProxy = false;

  function reportUntrustedProxy(socketAddress: string): void {
    if (hasReportedProxy || !isPrivateAddress(socketAddress)) return;
    hasReportedProxy = true;
    onUntrustedProxy?.(socketAddress);
  }

  function readHop(text: string): Hop | undefined {
    const parsed = parseAddress(text);
    if (parsed === undefined) return undefined;
    const address = formatAddress(parsed);
    const key = parsed.kind() === 'ipv4' ? address : networkOf(parsed, ipv6PrefixBits);
    const override = findLimit(parsed);
    const network = override === undefined ? networkOf(parsed, Math.min(NETWORK_IPV6_BITS, ipv6PrefixBits)) : key;
    return { address, key, network, isTrusted: findProxy(parsed) === true, limit: override ?? defaultLimit };
  }

  function findHop(text: string): Hop | undefined {
    const known = hops.get(text);
    if (known !== undefined) return known;
    const hop = readHop(text);
    if (hop === undefined) return undefined;
    // To keep an order of use would take longer than to read an address.
    if (hops.size === MAX_HOPS) hops.clear();
    hops.set(compactCopy(text), hop);
    return hop;
  }

  return {
    identify(socketAddress, forwardedFor) {
      const peer = findHop(socketAddress);
      if (peer === undefined) {
        const unknown = { address: socketAddress, key: socketAddress, network: socketAddress };
        return { ...unknown, limit: defaultLimit, isOfProxy: false };
      }
      if (forwardedFor !== undefined && !peer.isTrusted) reportUntrustedProxy(socketAddress);
      const list = typeof forwardedFor === 'string' ? forwardedFor : (forwardedFor?.join(',') ?? '');
      let client = peer;
      for (let end = list.length; end >= 0 && client.isTrusted; ) {
        const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
        const entry = list.slice(comma + 1, end).trim();
        const hop = findHop(entry) ?? findHop(hostOf(entry));
        if (hop === undefined) break;
        client = hop;
        end = comma;
      }
      return { ...client, isOfProxy: peer.isTrusted };
    },
  };
}

/**
 * For the requests of the playground on the private listener: one client without a limit, which takes turns with all
 * others.
 */
export const OPERATOR_CLIENTS: ClientIdentification = {
  identify: (address) => ({ address, key: 'operator', network: 'operator', limit: 'unlimited', isOfProxy: false }),
};

const HOST_WITH_PORT = /^(?:\[([^[\]]*)\]|([\d.]+))(?::\d{1,5})?$/;

/** The address in `1.2.3.4:5678`, `[2001:db8::1]:443` or either of them quoted. Any other text is returned unchanged. */
function hostOf(entry: string): string {
  const isQuoted = entry.length >= 2 && entry.startsWith('"') && entry.endsWith('"');
  const host = isQuoted ? entry.slice(1, -1) : entry;
  const match = HOST_WITH_PORT.exec(host);
  return match?.[1] ?? match?.[2] ?? host;
}
