import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import ipaddr from 'ipaddr.js';

/** The addresses that IANA gives out for the public IPv6 internet (RFC 4291 section 2.4). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** The well-known prefix of RFC 6052; the local-use one (RFC 8215) is for private networks. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * True for an address of the public internet: not private, loopback, link-local, shared (RFC 6598), multicast,
 * unspecified, reserved or for documentation (RFC 6890). An address that wraps an IPv4 address is judged by that one,
 * where the wrapping is in use (IPv4-mapped, NAT64 of RFC 6052); 6to4 and Teredo are not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast';
  if (parsed.match(NAT64)) return isPublicAddress(embeddedIpv4(parsed));
  return parsed.match(GLOBAL_IPV6) && parsed.range() === 'unicast';
}

/** The last 32 bits: RFC 6052 section 2.2. */
function embeddedIpv4(address: ipaddr.IPv6): string {
  return address.toByteArray().slice(12).join('.');
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
