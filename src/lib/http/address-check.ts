import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { embeddedIpv4 } from '../../domain/ip-ranges.ts';

/** The addresses that IANA gives out for the public IPv6 internet (RFC 4291 section 2.4). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * True for an address of the public internet: not private, loopback, link-local, shared (RFC 6598), multicast,
 * unspecified, reserved or for documentation (RFC 6890). An address that wraps an IPv4 address is judged by that one,
 * where the wrapping is in use (IPv4-mapped, NAT64 of RFC 6052); 6to4 and Teredo are not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const ipv4 = parsed instanceof ipaddr.IPv4 ? parsed : embeddedIpv4(parsed as ipaddr.IPv6);
  if (ipv4 !== undefined) return ipv4.range() === 'unicast';
  return (parsed as ipaddr.IPv6).match(GLOBAL_IPV6) && parsed.range() === 'unicast';
}

/** A name that leads only to addresses which may not be connected to. */
export class AddressRefusedError extends Error {
  constructor(hostname: string) {
    super(`${hostname} has no public address`);
    this.name = 'AddressRefusedError';
  }
}

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * A `lookup` for `net.connect` that drops every address which is not public. It runs for each connection and hands on
 * the very addresses it has checked, so that a name which changes its address in between (DNS rebinding) gains nothing.
 *
 * @param privateHosts names that the operator has pointed the service at: these may lead anywhere
 */
export function createPublicLookup(privateHosts: ReadonlySet<string>, resolve: typeof dnsLookup = dnsLookup) {
  return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const addresses = privateHosts.has(hostname) ? found : found.filter(({ address }) => isPublicAddress(address));
      const [first] = addresses;
      if (first === undefined) return callback(new AddressRefusedError(hostname), []);
      if (options.all === true) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };
}
