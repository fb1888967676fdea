import ipaddr from 'ipaddr.js';
import { type Cidr, EMBEDDED_IPV4_PREFIX_BITS, embeddedIpv4 } from '../lib/ip-ranges.ts';
import { findNearName } from '../lib/near-name.ts';

/** An invalid value of a setting. */
export class SettingError extends Error {
  /** The value, or the invalid item of a list. `undefined` if it must not be shown. */
  readonly value: string | undefined;

  /** @param message what is expected, without the value */
  constructor(message: string, value?: string) {
    super(message);
    this.value = value;
  }
}

/**
 * True if messages may repeat an invalid value. Where the password of an invalid URL ends is not known, so no URL is
 * repeated, and nothing with an `@`, which may be a URL in the wrong setting.
 *
 * @param given the whole value of the setting: a comma in a password divides it into items of a list
 */
export function isShowable({ value }: SettingError, given: string): boolean {
  return value !== undefined && !given.includes('@');
}

type Parser<T> = (text: string) => T;

export function setting<T>(env: string, fallback: string, parse: Parser<T>, doc: string) {
  return { env, fallback, parse, doc, isSecret: false };
}

/** A setting without a default: `undefined` while it is not set. */
export function optionalSetting<T>(env: string, parse: Parser<T>, doc: string) {
  return setting(env, '', (value) => (value === '' ? undefined : parse(value)), doc);
}

/** An optional setting that is never shown, and that may be in the file that `NAME_FILE` names. */
export function secretSetting<T>(env: string, parse: Parser<T>, doc: string) {
  return { ...optionalSetting(env, parse, doc), isSecret: true };
}

/** @param read returns `undefined` for a text that is not as expected */
function form<T>(expected: string, read: (value: string) => T | undefined, { isUrl = false } = {}): Parser<T> {
  return (value) => {
    const found = read(value);
    if (found !== undefined) return found;
    throw new SettingError(`must be ${expected}`, isUrl ? undefined : value);
  };
}

export function anyText(value: string): string {
  return value;
}

export function integer(minimum: number, maximum: number): Parser<number> {
  return form(`a whole number from ${minimum} to ${maximum}`, (value) => {
    const parsed = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return parsed >= minimum && parsed <= maximum ? parsed : undefined;
  });
}

export function choice<const Name extends string>(names: readonly Name[]): Parser<Name> {
  return (value) => {
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    const near = findNearName(value, names);
    const advice = near === undefined ? '' : ` (did you mean ${near}?)`;
    throw new SettingError(`must be one of ${names.join(', ')}${advice}`, value);
  };
}

export function onOff(value: string): boolean {
  return choice(['on', 'off'])(value) === 'on';
}

/** Comma-separated values without surrounding spaces. */
export function list<T>(parse: Parser<T>, { minimum = 0 }: { minimum?: number } = {}): Parser<readonly T[]> {
  return (value) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(parse);
    if (items.length < minimum) throw new SettingError(`must name at least ${minimum}`);
    return items;
  };
}

export function matching(matches: (value: string) => boolean, what: string): Parser<string> {
  return form(what, (value) => (matches(value) ? value : undefined));
}

/** An http or https origin: scheme, host and optional port, nothing after it. */
export const origin = form(
  'an origin such as https://pennant.example, without user name, password and path',
  (value) => {
    const url = findHttpUrl(value);
    return url !== undefined && `${url.pathname}${url.search}${url.hash}` === '/' ? url.origin : undefined;
  },
  { isUrl: true },
);

const isHostName = (name: string) => /^[a-z\d]([a-z\d._-]*[a-z\d])?\.?$/i.test(name) || /^\[[\da-f:.]+\]$/i.test(name);

/** A name or an address, as in `Host` but without a port. */
export const hostName = form('a name without scheme and port, such as pennant.example', (value) =>
  isHostName(value) ? value : undefined,
);

export const directory = form('a path; no shell expands ~ here', (value) =>
  value.startsWith('~') ? undefined : value,
);

/** A URL with a host and without a user name and password. */
function findHttpUrl(value: string): URL | undefined {
  const url = URL.parse(value);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  // The URL parser accepts names such as "*.example".
  return isHostName(url.hostname) ? url : undefined;
}

const BYTE_UNITS: Record<string, number> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/**
 * A number of bytes, from 0 to a maximum.
 *
 * @param maximum in the form of a setting, such as `64GiB`
 */
export function bytes(maximum: string): Parser<number> {
  const most = bytesIn(maximum);
  return form(`from 0 to ${maximum}, as a number of bytes or with KiB, MiB, GiB or TiB`, (value) => {
    const total = bytesIn(value);
    return total <= most ? total : undefined;
  });
}

/** `NaN` for a text that is no number of bytes. */
function bytesIn(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,16})\s*(KiB|MiB|GiB|TiB)?$/.exec(text) ?? [];
  return Number(amount) * (BYTE_UNITS[unit] ?? 1);
}

/** Software differs in reading short and octal forms of IPv4, so only four plain decimal parts are accepted. */
const IPV4_RANGE = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})\/\d{1,2}$/;

const anyCidr = form('an address range such as 10.0.0.0/8 or 127.0.0.1/32', (value): Cidr | undefined => {
  const hasPlainForm = value.includes(':') || IPV4_RANGE.test(value);
  return hasPlainForm && ipaddr.isValidCIDR(value) ? ipaddr.parseCIDR(value) : undefined;
});

/** `10.0.0.5/8` is ambiguous: one address or a range? */
function cidr(value: string): Cidr {
  const range = anyCidr(value);
  const [address, prefixBits] = range;
  const network = (address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(value).toString();
  if (network === address.toString()) return range;
  throw new SettingError(`must begin with the first address of the range: ${network}/${prefixBits}`, value);
}

/** A range of proxies. A range of all addresses is refused, because it would let any client choose its address. */
export function proxyCidr(value: string): Cidr {
  const range = cidr(value);
  if (range[1] > 0 && !isAllOfIpv4(range)) return range;
  throw new SettingError('must not be a range of all addresses: any client could then forge its address', value);
}

/** True for an IPv6 range that contains the IPv6 form of all IPv4 addresses. */
function isAllOfIpv4([address, prefixBits]: Cidr): boolean {
  if (address instanceof ipaddr.IPv4 || prefixBits > EMBEDDED_IPV4_PREFIX_BITS) return false;
  return embeddedIpv4(address) !== undefined;
}

export const rateLimit = form('requests/seconds such as 10/30, from 1/1 to 999999/99999', (value) => {
  const [requests = 0, seconds = 0] = /^\d{1,6}\/\d{1,5}$/.test(value) ? value.split('/').map(Number) : [];
  return requests >= 1 && seconds >= 1 ? { requests, windowMs: seconds * 1000 } : undefined;
});

export function rateLimitOverride(value: string) {
  const at = value.lastIndexOf('=');
  if (at === -1) throw new SettingError('must be CIDR=requests/seconds or CIDR=unlimited', value);
  const limit = value.slice(at + 1);
  const range = cidr(value.slice(0, at));
  return { range, limit: limit === 'unlimited' ? limit : rateLimit(limit) } as const;
}
