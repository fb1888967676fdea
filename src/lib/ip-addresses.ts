import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IPv6 address that stands for an IPv4 one is read as IPv4. */
type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

export type Cidr = readonly [address: IpAddress, prefixBits: number];

/** Bits before the IPv4 address in every form that `embeddedIpv4` knows. */
const EMBEDDED_IPV4_PREFIX_BITS = 96;

/** The well-known prefix (RFC 6052 section 2.1). The local-use one (RFC 8215) is for private networks. */
const NAT64: ipaddr.IPv6 = ipaddr.IPv6.parse('64:ff9b::');

/** The IPv4 address in an IPv6 address: IPv4-mapped (RFC 4291 section 2.5.5.2) or NAT64 (RFC 6052). */
export function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const isEmbedding = address.isIPv4MappedAddress() || address.match(NAT64, EMBEDDED_IPV4_PREFIX_BITS);
  return isEmbedding ? new ipaddr.IPv4(address.toByteArray().slice(EMBEDDED_IPV4_PREFIX_BITS / 8)) : undefined;
}

/** INET6_ADDRSTRLEN and an interface's name (IF_NAMESIZE) after the percent sign. */
const MAX_ADDRESS_CHARACTERS = 46 + 16;

/** Reads an address; a zone (`%eth0`) is dropped, an IPv4-mapped or NAT64 address is the IPv4 address. */
export function parseAddress(text: string): IpAddress | undefined {
  // No address is longer. The check of the length makes long garbage cheap.
  if (text.length > MAX_ADDRESS_CHARACTERS) return undefined;
  // For IPv4, ipaddr.js takes a microsecond, and accepts `010.0.0.1` and `10.1`.
  if (isIPv4(text)) return new ipaddr.IPv4(text.split('.').map(Number));
  if (!isIPv6(text)) return undefined;
  const ipv6 = ipaddr.IPv6.parse(text.replace(/%.*/, ''));
  return embeddedIpv4(ipv6) ?? ipv6;
}

const PRIVATE_RANGES = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

/** True for addresses that the operator's own proxy may have, and that no client on the internet has. */
export function isPrivateAddress(text: string): boolean {
  return PRIVATE_RANGES.has(parseAddress(text)?.range() ?? 'none');
}

/** The text of an address: dotted decimal, or the form of RFC 5952. */
export function formatAddress(address: IpAddress): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

/** The most that one site gets (RFC 6177). */
export const NETWORK_IPV6_BITS = 48;

/** The network of an address: `203.0.113.0/24`, `2001:db8:17::/48`. */
export function networkOf(address: IpAddress, ipv6PrefixBits = NETWORK_IPV6_BITS): string {
  if (address instanceof ipaddr.IPv4) {
    const [first, second, third] = address.octets;
    return `${first}.${second}.${third}.0/24`;
  }
  const mask = ipaddr.IPv6.subnetMaskFromPrefixLength(ipv6PrefixBits).parts;
  const network = new ipaddr.IPv6(address.parts.map((part, index) => part & (mask[index] as number)));
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
 * A lookup by network, the longest prefix first. The cost grows with the number of networks, so it is meant for the dozens
 * in a setting.
 */
export function createNetworkTable<T>(
  entries: readonly (readonly [network: Cidr, value: T])[],
): (address: IpAddress) => T | undefined {
  const longestFirst = entries.toSorted(([[, left]], [[, right]]) => right - left);
  return (address) =>
    longestFirst.find(([[network, bits]]) => network.kind() === address.kind() && address.match(network, bits))?.[1];
}
