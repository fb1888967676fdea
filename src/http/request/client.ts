import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { compactCopy } from '../../lib/compact-copy.ts';
import type { HolderStats, Holders } from '../../lib/holders.ts';
import { createNetworkTable, formatAddress, type Network, parseAddress, parseIpv4 } from '../../lib/ip-address.ts';
import type { Client, Step } from './context.ts';

export interface ClientIdentification {
  /**
   * The client behind a request: the socket's address, unless that is a trusted proxy. Then all lines of
   * `X-Forwarded-For` are read as one and walked from the right: the first address that is not trusted; at an invalid
   * entry or the end, the last trusted one. An empty entry is invalid too: skipping it would hand the choice of the
   * address to whoever wrote what stands left of it.
   */
  identify(socketAddress: string, forwardedFor: string | readonly string[] | undefined): Client;
  isTrustedProxy(socketAddress: string): boolean;
  /** Of the IPv6 addresses whose reading is remembered. */
  stats(): HolderStats;
}

export interface ClientIdentificationOptions {
  readonly trustedProxies: readonly Network[];
  /** Leading bits of an IPv6 address that make one client, 1–128. */
  readonly ipv6PrefixBits: number;
}

interface Party extends Client {
  readonly isTrusted: boolean;
}

/** Reading an IPv6 address and writing its network takes microseconds: so many recent ones are remembered. */
const REMEMBERED_IPV6_ADDRESSES = 10_000;

export function createClientIdentification(options: ClientIdentificationOptions): ClientIdentification {
  const findProxy = createNetworkTable(options.trustedProxies.map((network) => [network, true] as const));
  const recentIpv6 = new LRUCache<string, Party>({ max: REMEMBERED_IPV6_ADDRESSES });

  function findParty(text: string): Party | undefined {
    const ipv4 = parseIpv4(text);
    if (ipv4 !== undefined) return { address: text, key: text, isTrusted: findProxy(ipv4) === true };
    const recent = recentIpv6.get(text);
    if (recent !== undefined) return recent;
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    const canonical = formatAddress(address);
    const key = typeof address === 'number' ? canonical : formatNetwork(address, options.ipv6PrefixBits);
    const party = { address: canonical, key, isTrusted: findProxy(address) === true };
    recentIpv6.set(compactCopy(text), party);
    return party;
  }

  return {
    identify(socketAddress, forwardedFor) {
      let client = findParty(socketAddress);
      if (client === undefined) return { address: socketAddress, key: socketAddress };
      if (!client.isTrusted || forwardedFor === undefined) return client;
      for (const entry of entriesFromTheRight(joined(forwardedFor))) {
        const party = findParty(hostOf(entry));
        if (party === undefined) return client;
        client = party;
        if (!client.isTrusted) return client;
      }
      return client;
    },
    isTrustedProxy: (socketAddress) => findParty(socketAddress)?.isTrusted === true,
    stats: () => ({ entries: recentIpv6.size, maxEntries: REMEMBERED_IPV6_ADDRESSES }),
  };
}

function joined(lines: string | readonly string[]): string {
  return typeof lines === 'string' ? lines : lines.join(',');
}

function* entriesFromTheRight(list: string): Generator<string> {
  let end = list.length;
  while (end >= 0) {
    const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
    yield list.slice(comma + 1, end).trim();
    end = comma;
  }
}

const HOST_WITH_PORT = /^(?:\[([^[\]]*)\]|([\d.]+))(?::\d{1,5})?$/;

/** The address in `1.2.3.4:5678`, `[2001:db8::1]:443` or either of them quoted; any other text as it is. */
function hostOf(entry: string): string {
  const isQuoted = entry.length >= 2 && entry.startsWith('"') && entry.endsWith('"');
  const host = isQuoted ? entry.slice(1, -1) : entry;
  const match = HOST_WITH_PORT.exec(host);
  return match?.[1] ?? match?.[2] ?? host;
}

function formatNetwork(address: ipaddr.IPv6, prefixBits: number): string {
  const parts = address.parts.map((part, index) => {
    const bits = Math.min(16, Math.max(0, prefixBits - index * 16));
    return part & (0xffff << (16 - bits));
  });
  return `${new ipaddr.IPv6(parts).toRFC5952String()}/${prefixBits}`;
}

export interface ClientStepOptions {
  readonly clients: ClientIdentification;
  readonly holders: Holders;
  /** Called with the socket's address for each `X-Forwarded-For` that does not come from a trusted proxy. */
  readonly onUntrustedForward: (address: string) => void;
}

/** The step that finds out which client the request counts for. */
export function createClientStep({ clients, holders, onUntrustedForward }: ClientStepOptions): Step {
  holders.add('IPv6 addresses', clients.stats);
  return (context) => {
    const { socket, headers } = context.request;
    const socketAddress = socket.remoteAddress ?? 'unknown';
    const forwardedFor = headers['x-forwarded-for'];
    if (forwardedFor !== undefined && !clients.isTrustedProxy(socketAddress)) onUntrustedForward(socketAddress);
    context.client = clients.identify(socketAddress, forwardedFor);
    return undefined;
  };
}
