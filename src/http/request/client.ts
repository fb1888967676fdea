import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../domain/errors.ts';
import { type Cidr, EMBEDDED_IPV4_PREFIX_BITS, embeddedIpv4, isPrivateAddress } from '../../domain/ip-ranges.ts';
import type { HolderStats } from '../../lib/holders.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import type { ClientLimit, RateLimit, RateLimitDecision, RateLimiter } from '../../rate-limit/limiter.ts';

export type ClientIdentification = ReturnType<typeof createClientIdentification>;

export interface ClientIdentificationOptions {
  readonly trustedProxies: readonly Cidr[];
  /** The leading bits of an IPv6 address that identify a client, 1–128. */
  readonly ipv6PrefixBits: number;
  readonly defaultLimit: RateLimit;
  /** The override with the longest prefix is used. */
  readonly limitOverrides: readonly { readonly range: Cidr; readonly limit: ClientLimit }[];
  /** Called once, with the first private address that is no trusted proxy and sends `X-Forwarded-For`. */
  readonly onUntrustedProxy?: (address: string) => void;
}

/** The client that a request counts for. */
export interface Client {
  /** In canonical form. The socket's own text if that is no address (a Unix socket). */
  readonly address: string;
  /** The key of one subscriber: an IPv4 address (also inside a NAT64 one), or an IPv6 network (`2001:db8::/64`). */
  readonly key: string;
  /**
   * The part of the internet that takes turns as one: `203.0.113.0/24` or `2001:db8:17::/48`. A client with a limit of its
   * own is a network of its own.
   */
  readonly network: string;
  readonly limit: ClientLimit;
}

/** An address on the way of a request: the socket's, or one in `X-Forwarded-For`. */
interface Hop extends Client {
  readonly isTrusted: boolean;
}

/** Reading an IPv6 address and writing its network takes microseconds, so this many recent ones are cached. */
const REMEMBERED_IPV6_ADDRESSES = 10_000;

export function createClientIdentification(options: ClientIdentificationOptions) {
  const { trustedProxies, ipv6PrefixBits, defaultLimit, limitOverrides, onUntrustedProxy } = options;
  const findProxy = createNetworkTable(trustedProxies.map((network) => [network, true] as const));
  const findLimit = createNetworkTable(limitOverrides.map(({ range, limit }) => [range, limit] as const));
  const recentIpv6 = new LRUCache<string, Hop>({ max: REMEMBERED_IPV6_ADDRESSES });

  let hasReportedProxy = false;

  function reportUntrustedProxy(socketAddress: string): void {
    if (hasReportedProxy || !isPrivateAddress(socketAddress)) return;
    hasReportedProxy = true;
    onUntrustedProxy?.(socketAddress);
  }

  function hopOf(parsed: IpAddress, address: string, key: string): Hop {
    const limit = findLimit(parsed);
    const network = limit === undefined ? clientNetworkOf(parsed, ipv6PrefixBits) : key;
    return { address, key, network, isTrusted: findProxy(parsed) === true, limit: limit ?? defaultLimit };
  }

  function findHop(text: string): Hop | undefined {
    const ipv4 = parseIpv4(text);
    return ipv4 === undefined ? (recentIpv6.get(text) ?? readIpv6(text)) : hopOf(ipv4, text, text);
  }

  function readIpv6(text: string): Hop | undefined {
    const parsed = parseAddress(text);
    if (parsed === undefined) return undefined;
    const address = formatAddress(parsed);
    const key = typeof parsed === 'number' ? address : networkOf(parsed, ipv6PrefixBits);
    const hop = hopOf(parsed, address, key);
    recentIpv6.set(compactCopy(text), hop);
    return hop;
  }

  return {
    /**
     * The client behind a request: the socket's address, unless that is a trusted proxy. Then all lines of
     * `X-Forwarded-For` are read as one and walked from the right: the first address that is not trusted; at an invalid
     * entry or the end, the last trusted one. An empty entry is invalid too: if it were skipped, the author of the
     * text to its left could choose the address.
     */
    identify(socketAddress: string, forwardedFor: string | readonly string[] | undefined): Client {
      let client = findHop(socketAddress);
      if (client === undefined) {
        return { address: socketAddress, key: socketAddress, network: socketAddress, limit: defaultLimit };
      }
      if (forwardedFor === undefined) return client;
      if (!client.isTrusted) reportUntrustedProxy(socketAddress);
      const list = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',');
      for (let end = list.length; end >= 0 && client.isTrusted; ) {
        const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
        const entry = list.slice(comma + 1, end).trim();
        const hop = findHop(entry) ?? findHop(hostOf(entry));
        if (hop === undefined) return client;
        client = hop;
        end = comma;
      }
      return client;
    },

    isTrustedProxy: (socketAddress: string): boolean => findHop(socketAddress)?.isTrusted === true,

    /** The number of IPv6 addresses whose networks are cached. */
    stats: (): HolderStats => ({ entries: recentIpv6.size, maxEntries: REMEMBERED_IPV6_ADDRESSES }),
  };
}

const HOST_WITH_PORT = /^(?:\[([^[\]]*)\]|([\d.]+))(?::\d{1,5})?$/;

/** The address in `1.2.3.4:5678`, `[2001:db8::1]:443` or either of them quoted. Any other text is returned unchanged. */
function hostOf(entry: string): string {
  const isQuoted = entry.length >= 2 && entry.startsWith('"') && entry.endsWith('"');
  const host = isQuoted ? entry.slice(1, -1) : entry;
  const match = HOST_WITH_PORT.exec(host);
  return match?.[1] ?? match?.[2] ?? host;
}

/** The network with so many leading bits: `2001:db8::/64`. */
function networkOf(address: ipaddr.IPv6, prefixBits: number): string {
  const mask = ipaddr.IPv6.subnetMaskFromPrefixLength(prefixBits).parts;
  const network = new ipaddr.IPv6(address.parts.map((part, at) => part & (mask[at] as number)));
  return `${network}/${prefixBits}`;
}

const IPV4_NETWORK_BITS = 24;
const IPV6_NETWORK_BITS = 48;

/**
 * The network of an address: `203.0.113.0/24`, `2001:db8:17::/48`.
 *
 * @param maxIpv6Bits no IPv6 network has more bits, so that it contains a whole client
 */
export function clientNetworkOf(address: IpAddress, maxIpv6Bits = IPV6_NETWORK_BITS): string {
  if (typeof address !== 'number') return networkOf(address, Math.min(IPV6_NETWORK_BITS, maxIpv6Bits));
  return `${formatAddress(address & ~0xff)}/${IPV4_NETWORK_BITS}`;
}

export interface RateLimitStepOptions {
  readonly limiter: RateLimiter;
  /** Contact address of the operator. */
  readonly contact: string | undefined;
}

/** The part of a request's context that the step reads and sets. */
interface CountedRequest {
  readonly client: Client;
  limitHeaders: Readonly<Record<string, string>>;
}

/**
 * The step that counts the request and sets its rate-limit fields.
 *
 * @throws AppError `rate_limited` over the limit. After exactly its `retryAfterMs` the next request is admitted
 */
export function createRateLimitStep({ limiter, contact }: RateLimitStepOptions) {
  function apply(context: CountedRequest, limit: RateLimit, decision: RateLimitDecision): undefined {
    const resetSeconds = Math.ceil(decision.resetMs / 1000);
    context.limitHeaders = {
      'ratelimit-policy': `"default";q=${limit.requests};w=${limit.windowMs / 1000}`,
      ratelimit: `"default";r=${decision.remaining};t=${resetSeconds}`,
      'x-ratelimit-limit': String(limit.requests),
      'x-ratelimit-remaining': String(decision.remaining),
      'x-ratelimit-reset': String(resetSeconds),
    };
    if (decision.isAllowed) return;
    const policy = `Limit: ${limit.requests} requests per ${limit.windowMs / 1000} s per client.`;
    const more = contact === undefined ? '' : ` Higher limits on request: ${contact}.`;
    const detail = `${policy} Try again in ${resetSeconds} s.${more}`;
    throw new AppError('rate_limited', detail, { retryAfterMs: decision.resetMs });
  }

  return (context: CountedRequest): undefined | Promise<undefined> => {
    const { key, limit } = context.client;
    if (limit === 'unlimited') return undefined;
    const decision = limiter.hit(key, limit);
    if (decision instanceof Promise) return decision.then((decided) => apply(context, limit, decided));
    return apply(context, limit, decision);
  };
}

export type RateLimitStep = ReturnType<typeof createRateLimitStep>;

/** An IPv4 address as its 32 bits, unsigned, or an IPv6 address that does not stand for an IPv4 one. */
export type IpAddress = number | ipaddr.IPv6;

const ZERO = 48;
const DOT = 46;

/**
 * Reads four decimal numbers without leading zeros. ipaddr.js is slower for a function of every request, and accepts
 * `010.0.0.1` and `10.1` with a meaning that their author may not expect.
 */
export function parseIpv4(text: string): number | undefined {
  if (text.length > 15 || !isIPv4(text)) return undefined;
  let bits = 0;
  let part = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      bits = bits * 256 + part;
      part = 0;
    } else part = part * 10 + code - ZERO;
  }
  return bits * 256 + part;
}

/** Reads an address; a zone (`%eth0`) is dropped, an IPv4-mapped or NAT64 address is the IPv4 address. */
export function parseAddress(text: string): IpAddress | undefined {
  const ipv4 = parseIpv4(text);
  if (ipv4 !== undefined) return ipv4;
  // The longest form with a zone is shorter. The check of the length makes long garbage cheap.
  if (text.length > MAX_ADDRESS_CHARACTERS || !isIPv6(text)) return undefined;
  const zoneAt = text.indexOf('%');
  const ipv6 = ipaddr.IPv6.parse(zoneAt === -1 ? text : text.slice(0, zoneAt));
  const ipv4Inside = embeddedIpv4(ipv6);
  return ipv4Inside === undefined ? ipv6 : bitsOfIpv4(ipv4Inside);
}

/** INET6_ADDRSTRLEN and an interface's name (IF_NAMESIZE) after the percent sign. */
const MAX_ADDRESS_CHARACTERS = 46 + 16;

/** Dotted decimal, or RFC 5952. */
export function formatAddress(address: IpAddress): string {
  if (typeof address !== 'number') return address.toRFC5952String();
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

function bitsOfIpv4(address: ipaddr.IPv4): number {
  return address.octets.reduce((bits, octet) => bits * 256 + octet, 0);
}

/**
 * A lookup by network, the longest prefix first. Networks of IPv4-mapped and NAT64 addresses count as the IPv4 networks
 * that they contain. The cost grows with the number of networks, so it is meant for the dozens in a setting.
 */
export function createNetworkTable<T>(
  entries: readonly (readonly [network: Cidr, value: T])[],
): (address: IpAddress) => T | undefined {
  const longestFirst = entries
    .map(([network, value]) => [...asIpv4(network), value] as const)
    .sort(([, left], [, right]) => right - left);
  const ipv4 = longestFirst.flatMap(([address, prefixBits, value]) => {
    if (address instanceof ipaddr.IPv6) return [];
    const mask = prefixBits === 0 ? 0 : -1 << (32 - prefixBits);
    return [{ network: bitsOfIpv4(address) & mask, mask, value }];
  });
  const ipv6 = longestFirst.filter(([address]) => address instanceof ipaddr.IPv6);
  return (address) => {
    if (typeof address === 'number') return ipv4.find((entry) => (address & entry.mask) === entry.network)?.value;
    return ipv6.find(([network, prefixBits]) => address.match(network, prefixBits))?.[2];
  };
}

function asIpv4([address, prefixBits]: Cidr): Cidr {
  const ipv4 = address instanceof ipaddr.IPv6 ? embeddedIpv4(address) : undefined;
  if (ipv4 === undefined || prefixBits < EMBEDDED_IPV4_PREFIX_BITS) return [address, prefixBits];
  return [ipv4, prefixBits - EMBEDDED_IPV4_PREFIX_BITS];
}
