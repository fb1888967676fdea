import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Cidr = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

/** Bits before the IPv4 address in every form that `embeddedIpv4` knows. */
const EMBEDDED_IPV4_PREFIX_BITS = 96;

/** The well-known prefix (RFC 6052 section 2.1). The local-use one (RFC 8215) is for private networks. */
const NAT64: ipaddr.IPv6 = ipaddr.IPv6.parse('64:ff9b::');

/** The IPv4 address in an IPv6 address: IPv4-mapped (RFC 4291 section 2.5.5.2) or NAT64 (RFC 6052). */
export function embeddedIpv4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const isEmbedding = address.isIPv4MappedAddress() || address.match(NAT64, EMBEDDED_IPV4_PREFIX_BITS);
  return isEmbedding ? new ipaddr.IPv4(address.toByteArray().slice(EMBEDDED_IPV4_PREFIX_BITS / 8)) : undefined;
}

const PRIVATE_RANGES = new Set(['private', 'loopback', 'linkLocal', 'uniqueLocal', 'carrierGradeNat']);

/** True for addresses that the operator's own proxy may have, and that no client on the internet has. */
export function isPrivateAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  const ipv4 = address instanceof ipaddr.IPv6 ? embeddedIpv4(address) : address;
  return PRIVATE_RANGES.has((ipv4 ?? address).range());
}
