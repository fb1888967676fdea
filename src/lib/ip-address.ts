import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { EMBEDDED_IPV4_PREFIX_BITS, embeddedIpv4 } from '../domain/ip-ranges.ts';

/** An IPv4 address as its 32 bits, unsigned, or an IPv6 address that does not stand for an IPv4 one. */
export type IpAddress = number | ipaddr.IPv6;

const ZERO = 48;
const DOT = 46;

/**
 * Reads four decimal numbers without leading zeros. By hand, because this runs for every request, and because other
 * readers take `010.0.0.1` and `10.1` for addresses that their writer did not mean.
 */
export function parseIpv4(text: string): number | undefined {
  if (text.length < 7 || text.length > 15) return undefined;
  let bits = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === DOT) {
      if (digits === 0) return undefined;
      bits = bits * 256 + part;
      part = 0;
      digits = 0;
      dots += 1;
      continue;
    }
    const isLeadingZero = digits === 1 && part === 0;
    if (code < ZERO || code > ZERO + 9 || isLeadingZero) return undefined;
    part = part * 10 + code - ZERO;
    digits += 1;
    if (part > 255) return undefined;
  }
  return dots === 3 && digits > 0 ? bits * 256 + part : undefined;
}

/** Reads an address; a zone (`%eth0`) is dropped, an IPv4-mapped or NAT64 address is the IPv4 address. */
export function parseAddress(text: string): IpAddress | undefined {
  const ipv4 = parseIpv4(text);
  if (ipv4 !== undefined) return ipv4;
  // The longest form with a zone is shorter; the look at the length keeps long garbage cheap.
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

/**
 * The network of an address, for display: `203.0.113.0/24`, `2001:db8:17::/48`. It does not identify a single client.
 * A text that is not an address becomes `other`.
 */
export function cutAddress(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return 'other';
  if (typeof address === 'number') return `${formatAddress(address & ~0xff)}/${CUT_IPV4_BITS}`;
  const [first = 0, second = 0, third = 0] = address.parts;
  return `${new ipaddr.IPv6([first, second, third, 0, 0, 0, 0, 0]).toRFC5952String()}/${CUT_IPV6_BITS}`;
}

const CUT_IPV4_BITS = 24;
const CUT_IPV6_BITS = 48;

const PRIVATE_RANGES = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

/** True for addresses that a proxy of the operator's own would have, and no client on the internet. */
export function isPrivateAddress(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && PRIVATE_RANGES.has(ipaddr.parse(formatAddress(address)).range());
}

function bitsOfIpv4(address: ipaddr.IPv4): number {
  return address.octets.reduce((bits, octet) => bits * 256 + octet, 0);
}

/** Every address that begins with the same bits. */
export type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

interface Ipv4Entry<T> {
  readonly network: number;
  readonly mask: number;
  readonly value: T;
}

interface Ipv6Entry<T> {
  readonly network: readonly [ipaddr.IPv6, number];
  readonly value: T;
}

/**
 * A look-up by network, the longest prefix first. Networks of IPv4-mapped and NAT64 addresses count as the IPv4
 * networks that they stand for. Cost grows with the number of networks: meant for the dozens that an operator writes
 * down.
 */
export function createNetworkTable<T>(
  entries: readonly (readonly [network: Network, value: T])[],
): (address: IpAddress) => T | undefined {
  const ipv4: Ipv4Entry<T>[] = [];
  const ipv6: Ipv6Entry<T>[] = [];
  const longestFirst = entries
    .map(([network, value]) => [asIpv4(network), value] as const)
    .sort(([[, left]], [[, right]]) => right - left);
  for (const [[address, prefixBits], value] of longestFirst) {
    if (address instanceof ipaddr.IPv6) {
      ipv6.push({ network: [address, prefixBits], value });
    } else {
      const mask = prefixBits === 0 ? 0 : -1 << (32 - prefixBits);
      ipv4.push({ network: bitsOfIpv4(address) & mask, mask, value });
    }
  }
  return (address) => {
    if (typeof address === 'number') return ipv4.find((entry) => (address & entry.mask) === entry.network)?.value;
    return ipv6.find((entry) => address.match(entry.network[0], entry.network[1]))?.value;
  };
}

function asIpv4([address, prefixBits]: Network): Network {
  const ipv4 = address instanceof ipaddr.IPv6 ? embeddedIpv4(address) : undefined;
  if (ipv4 === undefined || prefixBits < EMBEDDED_IPV4_PREFIX_BITS) return [address, prefixBits];
  return [ipv4, prefixBits - EMBEDDED_IPV4_PREFIX_BITS];
}
