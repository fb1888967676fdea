import ipaddr from 'ipaddr.js';
import { EMBEDDED_IPV4_PREFIX_BITS, embeddedIpv4 } from './ip-ranges.ts';

/** An invalid value of a setting. The message says what is expected. */
export class SettingError extends Error {}

interface Parser<T> {
  (text: string): T;
  /** The minimum and maximum, for numbers. */
  readonly extremes?: readonly [least: string, most: string];
}

interface Setting<T> {
  readonly env: string;
  readonly fallback: string;
  readonly parse: Parser<T>;
  readonly doc: string;
  readonly isSecret: boolean;
}

export function setting<T>(
  env: string,
  fallback: string,
  parse: Parser<T>,
  doc: string,
  { isSecret = false }: { isSecret?: boolean } = {},
): Setting<T> {
  return { env, fallback, parse, doc, isSecret };
}

export function text(value: string): string {
  return value;
}

/** The empty text means "not set". */
export function optional<T>(parse: Parser<T>): Parser<T | undefined> {
  return (value) => (value === '' ? undefined : parse(value));
}

export function integer(minimum: number, maximum: number): Parser<number> {
  function parse(value: string): number {
    const parsed = Number(value);
    if (/^\d{1,15}$/.test(value) && parsed >= minimum && parsed <= maximum) return parsed;
    throw new SettingError(`must be a whole number from ${minimum} to ${maximum}, is "${value}"`);
  }
  return Object.assign(parse, { extremes: [String(minimum), String(maximum)] } as const);
}

export function oneOf<const Name extends string>(names: readonly Name[]): Parser<Name> {
  return (value) => {
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    throw new SettingError(`must be one of ${names.join(', ')}, is "${value}"`);
  };
}

export function onOff(value: string): boolean {
  return oneOf(['on', 'off'])(value) === 'on';
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
  return (value) => {
    if (matches(value)) return value;
    throw new SettingError(`must be ${what}, is "${value}"`);
  };
}

/** An http or https origin: scheme, host and optional port, nothing after it. */
export function origin(value: string): string {
  const url = URL.parse(value);
  const isOrigin =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    `${url.pathname}${url.search}${url.hash}` === '/' &&
    !url.username;
  if (isOrigin) return url.origin;
  throw new SettingError(`must be an origin such as https://pennant.example, without a path, is "${value}"`);
}

/** The http or https URL of a directory, without a query or a fragment. @returns it with a slash at the end */
export function directoryUrl(value: string): string {
  const url = URL.parse(value);
  const isDirectory = url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(value) && !url.username;
  if (isDirectory && !url.password) return url.href.endsWith('/') ? url.href : `${url.href}/`;
  throw new SettingError(`must be a URL such as https://pennant.example/play/, without a query, is "${value}"`);
}

const BYTE_UNITS: Record<string, number> = { '': 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };

/**
 * From 0 to a maximum.
 *
 * @param maximum in the form of a setting, such as `64GiB`
 */
export function bytes(maximum: string): Parser<number> {
  const most = bytesIn(maximum);
  function parse(value: string): number {
    const total = bytesIn(value);
    if (total <= most) return total;
    throw new SettingError(
      `must be from 0 to ${maximum}, as a number of bytes or with KiB, MiB, GiB or TiB, is "${value}"`,
    );
  }
  return Object.assign(parse, { extremes: ['0', maximum] } as const);
}

/** `NaN` for a text that is no number of bytes. */
function bytesIn(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,16})\s*(KiB|MiB|GiB|TiB)?$/.exec(text) ?? [];
  return Number(amount) * (BYTE_UNITS[unit] ?? 1);
}

const DURATION_UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds, written as seconds or with a unit: `90`, `90s`, `30m`, `1h`, `1d`. */
export function duration(minimumMs: number, maximumMs: number): Parser<number> {
  return (value) => {
    const [, amount, unit = 's'] = /^(\d{1,9})\s?([smhd])?$/.exec(value) ?? [];
    const durationMs = Number(amount) * (DURATION_UNITS_MS[unit] ?? 1);
    if (durationMs >= minimumMs && durationMs <= maximumMs) return durationMs;
    throw new SettingError(
      `must be a time such as 90s, 30m, 1h or 1d, from ${minimumMs / 1000} s to ${maximumMs / 1000} s, is "${value}"`,
    );
  };
}

export type Cidr = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

/** Software differs in reading short and octal forms of IPv4, so only four plain decimal parts are accepted. */
const IPV4_RANGE = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})\/\d{1,2}$/;

/** An address range. */
function cidr(value: string): Cidr {
  const hasPlainForm = value.includes(':') || IPV4_RANGE.test(value);
  if (hasPlainForm && ipaddr.isValidCIDR(value)) return ipaddr.parseCIDR(value);
  throw new SettingError(`must be an address range such as 10.0.0.0/8 or 127.0.0.1/32, is "${value}"`);
}

/** A range of proxies. A range of all addresses is refused, because it would let any client choose its address. */
export function proxyCidr(value: string): Cidr {
  const range = cidr(value);
  if (range[1] > 0 && !isAllOfIpv4(range)) return range;
  throw new SettingError(`must not be ${value}: every client could then write its own address`);
}

/** True for the forms in which an IPv6 address contains an IPv4 address. */
function isAllOfIpv4([address, prefixBits]: Cidr): boolean {
  if (address instanceof ipaddr.IPv4 || prefixBits > EMBEDDED_IPV4_PREFIX_BITS) return false;
  return embeddedIpv4(address) !== undefined;
}

export interface RateLimitSetting {
  readonly requests: number;
  readonly windowMs: number;
}

const RATE_LIMIT_EXTREMES = ['1/1', '999999/99999'] as const;

export const rateLimit: Parser<RateLimitSetting> = Object.assign(parseRateLimit, { extremes: RATE_LIMIT_EXTREMES });

function parseRateLimit(value: string): RateLimitSetting {
  const [, requests, seconds] = /^(\d{1,6})\/(\d{1,5})$/.exec(value) ?? [];
  if (Number(requests) >= 1 && Number(seconds) >= 1) {
    return { requests: Number(requests), windowMs: Number(seconds) * 1000 };
  }
  const [least, most] = RATE_LIMIT_EXTREMES;
  throw new SettingError(`must be requests/seconds such as 10/30, from ${least} to ${most}, is "${value}"`);
}

export interface RateLimitOverride {
  readonly range: Cidr;
  readonly limit: RateLimitSetting | 'unlimited';
}

export function rateLimitOverride(value: string): RateLimitOverride {
  const at = value.lastIndexOf('=');
  if (at === -1) throw new SettingError(`must be CIDR=requests/seconds or CIDR=unlimited, is "${value}"`);
  const limit = value.slice(at + 1);
  const range = cidr(value.slice(0, at));
  if (isAllOfIpv4(range)) {
    throw new SettingError(
      `must not name ${value.slice(0, at)}: these count as the IPv4 addresses in them; name those`,
    );
  }
  return { range, limit: limit === 'unlimited' ? 'unlimited' : rateLimit(limit) };
}
