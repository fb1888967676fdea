import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type Cidr, embeddedIpv4 } from '../lib/ip-addresses.ts';

/** The form of a value. */
export interface Form<T> {
  /** It completes a sentence after "must be". */
  readonly expected: string;
  /** Returns `undefined` for a text that is not as expected. */
  read(text: string): T | undefined;
  /** The parts of a text that are not as expected. Default: the whole text. */
  wrongParts?(text: string): readonly string[];
}

export interface Setting<T> {
  /** The name of its variable. */
  readonly env: string;
  readonly fallback: string;
  readonly form: Form<T>;
  readonly doc: string;
  /** Its value is `undefined` while it is not set. */
  readonly isOptional: boolean;
  /** A secret is never shown. It may be in the file that `NAME_FILE` names. */
  readonly isSecret: boolean;
}

export function setting<T>(env: string, fallback: string, form: Form<T>, doc: string): Setting<T> {
  return { env, fallback, form, doc, isOptional: false, isSecret: false };
}

export function optionalSetting<T>(env: string, form: Form<T>, doc: string): Setting<T | undefined> {
  return { env, fallback: '', form, doc, isOptional: true, isSecret: false };
}

export function secretSetting<T>(env: string, form: Form<T>, doc: string): Setting<T | undefined> {
  return { ...optionalSetting(env, form, doc), isSecret: true };
}

export const anyText: Form<string> = { expected: 'a text in one line', read: (text) => text };

export function integer(minimum: number, maximum: number): Form<number> {
  return {
    expected: `a whole number from ${minimum} to ${maximum}`,
    read(text) {
      const parsed = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      return parsed >= minimum && parsed <= maximum ? parsed : undefined;
    },
  };
}

export function choice<const Name extends string>(names: readonly Name[]): Form<Name> {
  return { expected: `one of ${names.join(', ')}`, read: (text) => names.find((name) => name === text) };
}

export const onOff: Form<boolean> = {
  expected: 'on or off',
  read: (text) => (['on', 'off'].includes(text) ? text === 'on' : undefined),
};

/** Comma-separated values without surrounding spaces. */
export function list<T>(item: Form<T>, { minimum = 0 }: { minimum?: number } = {}): Form<readonly T[]> {
  return {
    expected: `a comma-separated list; each item must be ${item.expected}`,
    read(text) {
      const items = itemsOf(text).map(item.read);
      const valid = items.filter((value) => value !== undefined);
      return valid.length === items.length && valid.length >= minimum ? valid : undefined;
    },
    wrongParts: (text) => itemsOf(text).filter((part) => item.read(part) === undefined),
  };
}

function itemsOf(list: string): readonly string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

export function matching(matches: (text: string) => boolean, expected: string): Form<string> {
  return { expected, read: (text) => (matches(text) ? text : undefined) };
}

/** An http or https origin has a scheme, a host and an optional port, and nothing after it. */
export const origin: Form<string> = {
  expected: 'an origin such as https://pennant.example, without user name, password and path',
  read(text) {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
    // The URL parser accepts names such as "*.example".
    return isHostName(url.hostname) && `${url.pathname}${url.search}${url.hash}` === '/' ? url.origin : undefined;
  },
};

const BASE_URL = /^([^/]*:\/\/[^/?#]*)((?:\/[\w~%.-]+)*)\/?$/;

/** An origin, and the path of a proxy that strips it. */
export const baseUrl: Form<string> = {
  expected:
    'a URL such as https://pennant.example or https://example.org/pennant, without user name, password, query, fragment and dot segment',
  read(text) {
    const [, site = '', path = ''] = BASE_URL.exec(text) ?? [];
    const found = origin.read(site);
    // The URL parser removes dot segments.
    return found !== undefined && new URL(found + path).pathname === (path || '/') ? found + path : undefined;
  },
};

const isName = (text: string) => /^[a-z\d]([a-z\d._-]*[a-z\d])?\.?$/i.test(text);
const isHostName = (text: string) => isName(text) || /^\[[\da-f:.]+\]$/i.test(text);

/** A name or an address, as in `Host` but without a port. */
export const hostName = matching(isHostName, 'a name without scheme and port, such as pennant.example');

/** An address or a name that a listener can listen on. */
export const listenAddress = matching(
  (text) => isIP(text) !== 0 || isName(text),
  'an IP address such as 127.0.0.1 or ::1 without brackets and port, or a name of this machine',
);

const REDIS_URL = /^(?:rediss?:\/\/[^/?#]+(?:\/\d{0,5})?|unix:\/\/\/[^?#]*[^/?#](?:\?db=\d{1,5})?)$/;

/** A URL that the client library of Redis can parse. */
export const redisUrl = matching(
  (text) => REDIS_URL.test(text) && URL.canParse(text) && !/%(?![\da-f]{2})/i.test(text),
  'redis://[user:password@]host[:port][/database], the same with rediss:// for TLS, or unix:///path/to/socket[?db=database]',
);

export const directory = matching((text) => !text.startsWith('~'), 'a path; no shell expands ~ here');

const BYTE_UNITS: Record<string, number> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/**
 * A number of bytes, from 0 to a maximum.
 *
 * @param maximum in the form of a setting, such as `64GiB`
 */
export function bytes(maximum: string): Form<number> {
  const most = bytesIn(maximum);
  return {
    expected: `from 0 to ${maximum}, as a number of bytes or with KiB, MiB, GiB or TiB`,
    read(text) {
      const total = bytesIn(text);
      return total <= most ? total : undefined;
    },
  };
}

/** `NaN` for a text that is no number of bytes. */
function bytesIn(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,16})\s*(KiB|MiB|GiB|TiB)?$/.exec(text) ?? [];
  return Number(amount) * (BYTE_UNITS[unit] ?? 1);
}

/** Software differs in reading short and octal forms of IPv4, so only four plain decimal parts are accepted. */
const IPV4_RANGE = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})\/\d{1,2}$/;

/** `10.0.0.5/8` is refused: one address or a range? */
function readCidr(text: string): Cidr | undefined {
  const hasPlainForm = text.includes(':') || IPV4_RANGE.test(text);
  if (!hasPlainForm || !ipaddr.isValidCIDR(text)) return undefined;
  const range = ipaddr.parseCIDR(text);
  const [address] = range;
  // Addresses of clients in this form are read as IPv4.
  if (address instanceof ipaddr.IPv6 && embeddedIpv4(address) !== undefined) return undefined;
  const network = (address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(text);
  return network.toString() === address.toString() ? range : undefined;
}

/** A range of proxies. A range of all addresses is refused, because it would let any client choose its address. */
export const proxyCidr: Form<Cidr> = {
  expected:
    'an address range such as 10.0.0.0/8 or 127.0.0.1/32, which begins with its first address and is not all addresses',
  read(text) {
    const range = readCidr(text);
    return range !== undefined && range[1] > 0 ? range : undefined;
  },
};

/** The time of each request is kept for the whole window. */
const MAX_LIMIT_REQUESTS = 10_000;

export const rateLimit = {
  expected: `requests/seconds such as 10/30, from 1/1 to ${MAX_LIMIT_REQUESTS}/99999`,
  read(text: string) {
    const [requests = 0, seconds = 0] = /^\d{1,5}\/\d{1,5}$/.test(text) ? text.split('/').map(Number) : [];
    const isValid = requests >= 1 && requests <= MAX_LIMIT_REQUESTS && seconds >= 1;
    return isValid ? { requests, windowMs: seconds * 1000 } : undefined;
  },
};

export const rateLimitOverride = {
  expected: 'CIDR=requests/seconds or CIDR=unlimited, where CIDR begins with the first address of its range',
  read(text: string) {
    const [cidr = '', given = '', ...rest] = text.split('=');
    const range = readCidr(cidr);
    const limit = given === 'unlimited' ? ('unlimited' as const) : rateLimit.read(given);
    return range === undefined || limit === undefined || rest.length > 0 ? undefined : { range, limit };
  },
};
