import { decoded } from '../domain/pasted.ts';
import type { Environment } from './environment.ts';

/** The proxy of outgoing HTTPS connections, in the variables that Node's agents read. */
export interface ProxyEnv {
  readonly HTTPS_PROXY: string;
  readonly NO_PROXY: string;
}

/** The first one that is set counts, as for the agents of Node 24 (`proxyEnv`). */
const PROXY_NAMES = ['https_proxy', 'HTTPS_PROXY'];

/** Finds the proxy of outgoing HTTPS connections, or the mistake in its variable. */
export function readProxyEnv(env: Environment): { readonly proxyEnv?: ProxyEnv; readonly mistake?: string } {
  const name = PROXY_NAMES.find((variable) => env[variable]?.trim());
  const url = name && env[name]?.trim();
  if (!url) return {};
  if (isProxyUrl(url)) return { proxyEnv: { HTTPS_PROXY: url, NO_PROXY: env.no_proxy || env.NO_PROXY || '' } };
  // Its value may have a password, so it is not repeated.
  return { mistake: `${name}: must be http://[user:password@]host[:port], or the same with https://` };
}

/** Node would ignore an address in another form (`socks5://…`, `host:port`) and connect directly. */
function isProxyUrl(text: string): boolean {
  const url = /^https?:\/\/[^\s/?#]+\/?$/.test(text) ? URL.parse(text) : null;
  return url !== null && [url.username, url.password].every((part) => decoded(part) !== undefined);
}
