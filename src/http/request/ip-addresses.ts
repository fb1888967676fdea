import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Cidr, EMBEDDED_IPV4_PREFIX_BITS, embeddedIpv4 } from '../../lib/ip-ranges.ts';

/** An IPv4 address as its 32 bits, unsigned, or an IPv6 address that does not stand for an IPv4 one. */
export type IpAddress = number | ipaddr.IPv6;

const ZERO = 48;
const DOT = 46;

/**
 * Reads four decimal numbers without leading zeros. ipaddr.js is too slow for a function that every request calls, and accepts
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
  // No address is longer. The check of the length makes long garbage cheap.
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

/** The most that one site gets (RFC 6177). */
export const NETWORK_IPV6_BITS = 48;

/** The network of an address: `203.0.113.0/24`, `2001:db8:17::/48`. */
export function networkOf(address: IpAddress, ipv6PrefixBits = NETWORK_IPV6_BITS): string {
  if (typeof address === 'number') return `${formatAddress(address & ~0xff)}/24`;
  const mask = ipaddr.IPv6.subnetMaskFromPrefixLength(ipv6PrefixBits).parts;
  const network = new ipaddr.IPv6(address.parts.map((part, at) => part & (mask[at] as number)));
  return `${network}/${ipv6PrefixBits}`;
}

/**
 * The network of an address, for display: `203.0.113.0/24`, `2001:db8:17::/48`. It does not identify a single client.
 * A text that is not an address becomes `other`.
 */
export function truncateAddress(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? 'other' : networkOf(address);
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
