import type { RedisAddress } from '../lib/redis/client.ts';
import { SettingError } from './setting-forms.ts';

const DEFAULT_PORT = 6379;
const FORM =
  'must be redis://[user:password@]host[:port][/database], the same with rediss:// for TLS, or unix:///path/to/socket[?db=database]';

/**
 * Reads the URL of a Redis server: `redis` and `rediss` as registered with IANA, a socket as `unix` or `redis+unix`.
 *
 * @throws SettingError that does not repeat the URL: it may hold a password.
 */
export function parseRedisUrl(value: string): RedisAddress {
  try {
    const url = new URL(value);
    return {
      server: serverOf(url),
      username: decodeURIComponent(url.username) || undefined,
      password: decodeURIComponent(url.password) || undefined,
      database: databaseOf(url),
    };
  } catch {
    throw new SettingError(FORM);
  }
}

function serverOf(url: URL): RedisAddress['server'] {
  switch (url.protocol) {
    case 'redis:':
    case 'rediss:': {
      if (url.hostname === '' || url.search !== '' || url.hash !== '') throw new SettingError(FORM);
      // The URL form of an IPv6 address has brackets, which the socket does not want.
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      return { host, port: Number(url.port || DEFAULT_PORT), isTls: url.protocol === 'rediss:' };
    }
    case 'unix:':
    case 'redis+unix:': {
      const socketPath = decodeURIComponent(url.pathname);
      if (url.host !== '' || !/^\/[^\0]*[^\0/]$/.test(socketPath)) throw new SettingError(FORM);
      return { socketPath };
    }
    default:
      throw new SettingError(FORM);
  }
}

function databaseOf(url: URL): number {
  const isSocket = url.protocol.endsWith('unix:');
  const text = isSocket ? (url.searchParams.get('db') ?? '') : url.pathname.slice(1);
  if (!/^\d{0,5}$/.test(text)) throw new SettingError(FORM);
  return Number(text);
}
