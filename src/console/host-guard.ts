import { isIP } from 'node:net';

/** Names that only ever mean this machine. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

export interface HostGuard {
  /** Whether the name in `Host` is one that the operator gave to this listener. */
  isAllowed(host: string | undefined): boolean;
  /**
   * Whether it is at least an address: probes and scrapers ask by it. A page elsewhere cannot make a browser send one
   * for its own name, which is what DNS rebinding needs.
   */
  isAddress(host: string | undefined): boolean;
}

/** Decides by `Host` who may talk to the private listener: a name that was rebound to it is not among the names. */
export function createHostGuard({ allowedHosts }: { readonly allowedHosts: readonly string[] }): HostGuard {
  const allowed = new Set([...LOOPBACK_NAMES, ...allowedHosts.map(bracketed)].map((host) => host.toLowerCase()));
  return {
    isAllowed: (host) => allowed.has(nameIn(host)),
    isAddress: (host) => isIP(nameIn(host).replace(/^\[(.*)\]$/, '$1')) !== 0,
  };
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** The name without its port and without the dot that ends a full name. */
function nameIn(host: string | undefined): string {
  return (host ?? '')
    .toLowerCase()
    .replace(/:\d{1,5}$/, '')
    .replace(/\.$/, '');
}
