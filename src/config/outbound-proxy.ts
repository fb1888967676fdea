import { decoded } from '../domain/pasted.ts';
import type { Environment } from './environment.ts';

/** The proxy of outgoing HTTPS connections, in the variables that Node's agents read. */
export interface ProxyEnv {
  readonly HTTPS_PROXY: string;
  readonly NO_PROXY: string;
}

/** The first one that is set counts, as for the agents of Node 24 (`proxyEnv`). */
const PROXY_NAMES = ['https_proxy', 'HTTPS_PROXY'];

/**
 * Finds the proxy of outgoing HTTPS connections. Node would ignore another form (`socks5://…`, `host:port`) and connect directly.
 *
 * @param mistakes gets a line if the variable has another form
 */
export function readProxyEnv(env: Environment, mistakes: string[]): ProxyEnv | undefined {
  for (const name of PROXY_NAMES) {
    const url = env[name]?.trim() ?? '';
    if (url === '') continue;
    if (isProxyUrl(url)) return { HTTPS_PROXY: url, NO_PROXY: env.no_proxy || env.NO_PROXY || '' };
    // It may have a password, so it is not repeated.
    mistakes.push(`${name}: must be http://[user:password@]host[:port], or the same with https://`);
  }
  return undefined;
}

function isProxyUrl(text: string): boolean {
  const url = /^https?:\/\/[^\s/?#]+\/?$/.test(text) ? URL.parse(text) : null;
  return url !== null && [url.username, url.password].every((part) => decoded(part) !== undefined);
}
