import ipaddr from 'ipaddr.js';
import { AppError } from '../../domain/errors.ts';
import type { RateLimitOverride } from '../../domain/setting-forms.ts';
import type { HolderStats, Holders } from '../../lib/holders.ts';
import { createNetworkTable, formatAddress, type Network, parseAddress } from '../../lib/ip-address.ts';
import { compactCopy } from '../../lib/memory-cache.ts';
import type { ClientLimit, RateLimit, RateLimitDecision, RateLimiter } from '../../rate-limit/limiter.ts';
import type { Client, RequestContext, Step } from './context.ts';

export interface ClientIdentification {
  /**
   * The client behind a request: the socket's address, unless that is a trusted proxy. Then all lines of
   * `X-Forwarded-For` are read as one and walked from the right: the first address that is not trusted; at an invalid
   * entry or the end, the last trusted one. An empty entry is invalid too: skipping it would hand the choice of the
   * address to whoever wrote what stands left of it.
   */
  identify(socketAddress: string, forwardedFor: string | readonly string[] | undefined): Client;
  isTrustedProxy(socketAddress: string): boolean;
  /** The remembered addresses. */
  stats(): HolderStats;
}

export interface ClientIdentificationOptions {
  readonly trustedProxies: readonly Network[];
  /** Leading bits of an IPv6 address that make one client, 1–128. */
  readonly ipv6PrefixBits: number;
  readonly defaultLimit: RateLimit;
  /** The override with the longest prefix counts. */
  readonly limitOverrides: readonly RateLimitOverride[];
  /** Called with the socket's address for each `X-Forwarded-For` that does not come from a trusted proxy. */
  readonly onUntrustedForward?: (address: string) => void;
}

interface Party extends Client {
  readonly isTrusted: boolean;
}

/** Parsing an address and looking up its networks takes a microsecond, so that recent addresses are remembered. */
const MAX_REMEMBERED_ADDRESSES = 20_000;

export function createClientIdentification(options: ClientIdentificationOptions): ClientIdentification {
  const { trustedProxies, ipv6PrefixBits, defaultLimit, limitOverrides, onUntrustedForward } = options;
  const findProxy = createNetworkTable(trustedProxies.map((network) => [network, true] as const));
  const findLimit = createNetworkTable(limitOverrides.map(({ range, limit }) => [range, limit] as const));
  /** When the newer half is full, the older half is forgotten: cheaper than a list of the least recently used. */
  let newer = new Map<string, Party>();
  let older = new Map<string, Party>();

  function findParty(text: string): Party | undefined {
    return newer.get(text) ?? older.get(text) ?? readParty(text);
  }

  function readParty(text: string): Party | undefined {
    const parsed = parseAddress(text);
    if (parsed === undefined) return undefined;
    const address = formatAddress(parsed);
    const key = typeof parsed === 'number' ? address : formatNetwork(parsed, ipv6PrefixBits);
    const party = { address, key, isTrusted: findProxy(parsed) === true, limit: findLimit(parsed) ?? defaultLimit };
    if (newer.size >= MAX_REMEMBERED_ADDRESSES / 2) [older, newer] = [newer, new Map()];
    newer.set(address === text ? address : compactCopy(text), party);
    return party;
  }

  return {
    identify(socketAddress, forwardedFor) {
      let client = findParty(socketAddress);
      if (client === undefined) return { address: socketAddress, key: socketAddress, limit: defaultLimit };
      if (forwardedFor === undefined) return client;
      if (!client.isTrusted) onUntrustedForward?.(socketAddress);
      const list = typeof forwardedFor === 'string' ? forwardedFor : forwardedFor.join(',');
      for (let end = list.length; end >= 0 && client.isTrusted; ) {
        const comma = end === 0 ? -1 : list.lastIndexOf(',', end - 1);
        const entry = list.slice(comma + 1, end).trim();
        const party = findParty(entry) ?? findParty(hostOf(entry));
        if (party === undefined) return client;
        client = party;
        end = comma;
      }
      return client;
    },
    isTrustedProxy: (socketAddress) => findParty(socketAddress)?.isTrusted === true,
    stats: () => ({ entries: newer.size + older.size, maxEntries: MAX_REMEMBERED_ADDRESSES }),
  };
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
}

/** The step that finds out which client the request counts for. */
export function createClientStep({ clients, holders }: ClientStepOptions): Step {
  holders.add('client addresses', clients.stats);
  return (context) => {
    const { socket, headers } = context.request;
    context.client = clients.identify(socket.remoteAddress ?? 'unknown', headers['x-forwarded-for']);
    return undefined;
  };
}

export interface Admission {
  readonly limit: ClientLimit;
  readonly isAllowed: boolean;
  /** For a refused request: after exactly this long the next one is admitted. */
  readonly retryAfterMs: number;
  /** `RateLimit…` of draft-ietf-httpapi-ratelimit-headers and the older `X-RateLimit-…`; none for unlimited clients. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts one request of the client. */
export function admit(limiter: RateLimiter, { key, limit }: Client): Admission | Promise<Admission> {
  if (limit === 'unlimited') return { limit, isAllowed: true, retryAfterMs: 0, headers: {} };
  const decision = limiter.hit(key, limit);
  if (decision instanceof Promise) return decision.then((decided) => admissionOf(limit, decided));
  return admissionOf(limit, decision);
}

const policies = new WeakMap<RateLimit, string>();

function policyOf(limit: RateLimit): string {
  const known = policies.get(limit);
  if (known !== undefined) return known;
  const policy = `"default";q=${limit.requests};w=${limit.windowMs / 1000}`;
  policies.set(limit, policy);
  return policy;
}

function admissionOf(limit: RateLimit, decision: RateLimitDecision): Admission {
  const resetSeconds = Math.ceil(decision.resetMs / 1000);
  const headers = {
    'ratelimit-policy': policyOf(limit),
    ratelimit: `"default";r=${decision.remaining};t=${resetSeconds}`,
    'x-ratelimit-limit': String(limit.requests),
    'x-ratelimit-remaining': String(decision.remaining),
    'x-ratelimit-reset': String(resetSeconds),
  };
  return { limit, isAllowed: decision.isAllowed, retryAfterMs: decision.resetMs, headers };
}

export interface RateLimitStepOptions {
  readonly limiter: RateLimiter;
  /** How clients reach the operator. */
  readonly contact: string | undefined;
}

/** The step that counts the request and refuses those over the limit with `rate_limited`. */
export function createRateLimitStep({ limiter, contact }: RateLimitStepOptions): Step {
  function apply(context: RequestContext, admission: Admission): undefined {
    context.limitHeaders = admission.headers;
    if (!admission.isAllowed) throw tooManyRequests(admission, contact);
  }

  return (context) => {
    const admission = admit(limiter, context.client);
    if (admission instanceof Promise) return admission.then((decided) => apply(context, decided));
    return apply(context, admission);
  };
}

/** @param contact how clients reach the operator */
export function tooManyRequests({ limit, retryAfterMs }: Admission, contact: string | undefined): AppError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const more = contact === undefined ? '' : ` Higher limits on request: ${contact}.`;
  const policy =
    limit === 'unlimited' ? '' : `Limit: ${limit.requests} requests per ${limit.windowMs / 1000} s per client. `;
  return new AppError('rate_limited', `${policy}Try again in ${seconds} s.${more}`, { retryAfterMs });
}
