import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { embeddedIpv4 } from '../ip-ranges.ts';

/** The addresses that IANA assigns to the public IPv6 internet (RFC 4291 section 2.4). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address of the public internet: not private, loopback, link-local, shared (RFC 6598), multicast,
 * unspecified, reserved or for documentation (RFC 6890). For an IPv6 address with an embedded IPv4 address
 * (IPv4-mapped, NAT64 of RFC 6052) the IPv4 address is checked. 6to4 and Teredo are not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const ipv4 = parsed instanceof ipaddr.IPv4 ? parsed : embeddedIpv4(parsed as ipaddr.IPv6);
  if (ipv4 !== undefined) return ipv4.range() === 'unicast';
  return (parsed as ipaddr.IPv6).match(GLOBAL_IPV6) && parsed.range() === 'unicast';
}

/** A name that resolves only to addresses that are not allowed. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError';
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * A `lookup` for `net.connect` that drops every address which is not public. It runs for each connection and returns
 * the checked addresses themselves, so that DNS rebinding between check and connection has no effect.
 *
 * @param privateHosts names from the operator's settings, which may resolve to any address
 */
export function createPublicLookup(privateHosts: ReadonlySet<string>, resolve: typeof dnsLookup = dnsLookup) {
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const addresses = privateHosts.has(hostname) ? found : found.filter(({ address }) => isPublicAddress(address));
      const [first] = addresses;
      if (first === undefined) return callback(new AddressRefusedError(`${hostname} has no public address`), []);
      if (options.all === true) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}
