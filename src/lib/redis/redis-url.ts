import { SettingError } from '../../domain/setting-forms.ts';

/** Where a Redis server listens, and as whom to use it. */
export interface RedisAddress {
  readonly server:
    | { readonly host: string; readonly port: number; readonly isTls: boolean }
    | { readonly socketPath: string };
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

const DEFAULT_PORT = 6379;
const FORM =
  'must be redis://[user:password@]host[:port][/database], the same with rediss:// for TLS, or unix:///path/to/socket[?db=database]';

/**
 * Reads the URL of a Redis server: `redis` and `rediss` as registered with IANA, a socket as `unix` or `redis+unix`.
 *
 * @throws SettingError that does not repeat the URL: it may hold a password.
 */
export function parseRedisUrl(value: string): RedisAddress {
  const url = URL.parse(value);
  const address = url === null ? undefined : addressOf(url);
  if (address === undefined) throw new SettingError(FORM);
  return address;
}

function addressOf(url: URL): RedisAddress | undefined {
  const username = decoded(url.username);
  const password = decoded(url.password);
  const server = serverOf(url);
  const database = databaseOf(url);
  if (username === undefined || password === undefined || server === undefined || database === undefined) {
    return undefined;
  }
  return { server, username: username || undefined, password: password || undefined, database };
}

function serverOf(url: URL): RedisAddress['server'] | undefined {
  switch (url.protocol) {
    case 'redis:':
    case 'rediss:': {
      if (url.hostname === '' || url.search !== '' || url.hash !== '') return undefined;
      // The URL form of an IPv6 address has brackets, which the socket does not want.
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      return { host, port: Number(url.port || DEFAULT_PORT), isTls: url.protocol === 'rediss:' };
    }
    case 'unix:':
    case 'redis+unix:': {
      const socketPath = decoded(url.pathname);
      const isAbsolutePath = url.host === '' && socketPath !== undefined && /^\/[^\0]*[^\0/]$/.test(socketPath);
      return isAbsolutePath ? { socketPath } : undefined;
    }
    default:
      return undefined;
  }
}

function databaseOf(url: URL): number | undefined {
  const isSocket = url.protocol.endsWith('unix:');
  const text = isSocket ? (url.searchParams.get('db') ?? '') : url.pathname.slice(1);
  if (text === '') return 0;
  return /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
