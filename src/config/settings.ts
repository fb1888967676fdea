import { OperatorError } from '../domain/errors.ts';
import { isChannelId } from '../domain/identifier.ts';
import { quoted } from '../lib/printable.ts';
import { type Environment, findGiven, type Given, readSecret } from './environment.ts';
import { type ProxyEnv, readProxyEnv } from './outbound-proxy.ts';
import * as form from './setting-forms.ts';

/** Every setting, once. docs/settings.md and .env.example are made from this table. */
export const SETTINGS = {
  port: form.setting('PORT', '8080', form.integer(0, 65_535), 'Port of the public listener. 0 takes a free port.'),
  host: form.setting(
    'HOST',
    '0.0.0.0',
    form.listenAddress,
    'Address of the public listener. `0.0.0.0` is all of IPv4, `::` all of IPv6 and IPv4.',
  ),
  baseUrls: form.setting(
    'BASE_URL',
    '',
    form.list(form.baseUrl),
    'Beginnings of the URLs in responses (comma-separated): the one whose origin matches `Host`, else the first. Each is an ' +
      'origin, with the path of a proxy that strips it (docs/proxies.md). Unset: from `Host`.',
  ),
  urlForm: form.setting(
    'URL_FORM',
    'api',
    form.choice(['api', 'short']),
    'Form of the image URLs in a record: `api` = `/api/banner/{id}?type=tv`, which some ad blockers block, `short` = `/{id}/tv`. ' +
      'Both are always served.',
  ),
  dataDir: form.setting('DATA_DIR', './data', form.directory, 'Directory of the cache.'),
  sources: form.setting(
    'SOURCES',
    'catalog,youtube',
    form.list(form.choice(['catalog', 'youtube', 'youtube-data-api']), { minimum: 1 }),
    'Sources of channels, in order of preference. The catalog always comes first.',
  ),
  catalog: form.optionalSetting(
    'CATALOG',
    form.directory,
    'Folder of your own channels (docs/catalog.md). Unset: `catalog` in `DATA_DIR`, else the samples.',
  ),
  youtubeOrigin: form.optionalSetting(
    'YOUTUBE_ORIGIN',
    form.origin,
    'Origin of a relay for all calls to YouTube, its image hosts and its Data API (docs/youtube.md).',
  ),
  youtubeApiKey: form.secretSetting('YOUTUBE_API_KEY', form.anyText, 'Key of the `youtube-data-api` source.'),
  upstreamCallsPerSecond: form.setting(
    'UPSTREAM_CALLS_PER_SECOND',
    '10',
    form.integer(1, 100_000),
    'Calls per second to each source, and to the image hosts. After a quiet time, those of ten seconds may be made at once.',
  ),
  trustProxy: form.setting(
    'TRUST_PROXY',
    '',
    form.list(form.proxyCidr),
    'Proxies (CIDRs, comma-separated) whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.',
  ),
  rateLimit: form.setting(
    'RATE_LIMIT',
    '10/30',
    form.rateLimit,
    'Requests of one client in any span of seconds, as `requests/seconds`; at most 10,000 requests.',
  ),
  rateLimitOverrides: form.setting(
    'RATE_LIMIT_OVERRIDES',
    '',
    form.list(form.rateLimitOverride),
    'Limits of certain clients: `CIDR=requests/seconds` or `CIDR=unlimited`, comma-separated. The longest prefix applies.',
  ),
  rateLimitIpv6Prefix: form.setting(
    'RATE_LIMIT_IPV6_PREFIX',
    '64',
    form.integer(1, 128),
    'Prefix length of an IPv6 network that counts as one client.',
  ),
  negotiate: form.setting(
    'NEGOTIATE',
    'on',
    form.onOff,
    'Whether the image format follows `Accept`. `off` is for caches that ignore `Vary`: JPEG or PNG unless the URL names a format.',
  ),
  blockedChannels: form.setting(
    'BLOCKED_CHANNELS',
    '',
    form.list(form.matching(isChannelId, 'a channel ID')),
    'Channel IDs (comma-separated) for which every path returns 451.',
  ),
  redisUrl: form.secretSetting(
    'REDIS_URL',
    form.redisUrl,
    'URL of a Redis or Valkey that instances share: `redis://`, `rediss://` (TLS) or `unix://` (docs/operating.md).',
  ),
  memoryCacheBytes: form.setting(
    'MEMORY_CACHE_BYTES',
    '64MiB',
    form.bytes('1TiB'),
    'Memory for records and searches (40 %, but at most 40 % of Node’s heap limit) and images.',
  ),
  imageCacheBytes: form.setting(
    'IMAGE_CACHE_BYTES',
    '2GiB',
    form.bytes('1024TiB'),
    'Disk space for encoded images and originals.',
  ),
  encoders: form.setting(
    'ENCODERS',
    '0',
    form.integer(0, 256),
    'Encoder processes. 0: one per processor (a container’s limit counts).',
  ),
  contact: form.optionalSetting(
    'CONTACT',
    form.anyText,
    'How clients reach the operator for higher limits. Shown in the index and in 429 responses.',
  ),
  logLevel: form.setting(
    'LOG_LEVEL',
    'info',
    form.choice(['debug', 'info', 'warn', 'error', 'silent']),
    'Lowest level that is logged.',
  ),
  accessLog: form.setting('ACCESS_LOG', 'off', form.onOff, 'Whether each response is logged as one line.'),
  consolePort: form.setting(
    'CONSOLE_PORT',
    '8081',
    form.integer(0, 65_535),
    'Port of the private listener (health, readiness, metrics, console). 0 turns it off.',
  ),
  consoleHost: form.setting(
    'CONSOLE_HOST',
    '127.0.0.1',
    form.listenAddress,
    'Address of the private listener, which has no login: only the operator may reach it.',
  ),
  consoleAllowedHosts: form.setting(
    'CONSOLE_ALLOWED_HOSTS',
    '',
    form.list(form.hostName),
    'Names (comma-separated, without port) of the private listener, besides `localhost`, `CONSOLE_HOST` and all addresses.',
  ),
} as const;

type ValueOf<S> = S extends form.Setting<infer T> ? T : never;
export type Config = { readonly [Name in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Name]> } & {
  /** The proxy of calls to YouTube. Its variables are those of many programs, so it is no setting of Pennant. */
  readonly proxyEnv: ProxyEnv | undefined;
};

/**
 * Reads the settings.
 *
 * @throws OperatorError that lists every invalid variable, its expected form and its value, unless that is a secret
 */
export function parseConfig(env: Environment): Config {
  const mistakes: string[] = [];
  const values = Object.entries(SETTINGS).map(([name, setting]) => {
    const given = findGiven(env, setting);
    if (given === undefined) return [name, setting.isOptional ? undefined : setting.form.read(setting.fallback)];
    const text = given.isFile ? readSecret(given.value) : given.value;
    const value = text === undefined || LINE_BREAK.test(text) ? undefined : setting.form.read(text);
    if (value === undefined) mistakes.push(describeMistake(setting, given));
    return [name, value];
  });
  const { proxyEnv, mistake } = readProxyEnv(env);
  if (mistake !== undefined) mistakes.push(mistake);
  const config = { ...Object.fromEntries(values), proxyEnv } as Config;
  if (mistakes.length === 0) mistakes.push(...findContradictions(config));
  if (mistakes.length === 0) return config;
  throw new OperatorError(`The settings cannot be used:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`);
}

const LINE_BREAK = /[\r\n]/;

function describeMistake({ form, isSecret }: form.Setting<unknown>, { variable, value, isFile }: Given): string {
  if (isFile) return `${variable}: must be the path of a file with ${form.expected}`;
  const expected = `${variable}: must be ${form.expected}`;
  return isSecret ? expected : `${expected}, got ${shownValue(form, value)}`;
}

/** A wrong value, for a message, without what may be a secret. */
function shownValue(form: form.Form<unknown>, value: string): string {
  // After a quote that is not closed, a value has the next lines of a file.
  if (LINE_BREAK.test(value)) return 'several lines';
  const parts = form.wrongParts?.(value) ?? [value];
  if (parts.length === 0) return 'no item';
  return parts.some(hasPassword) ? 'a value with a password' : parts.map(quoted).join(', ');
}

/** True for an address with a user name and a password, with or without a scheme before them. */
function hasPassword(text: string): boolean {
  const colon = text.indexOf(':');
  return colon !== -1 && text.includes('@', colon);
}

function findContradictions({ sources, youtubeApiKey, port, consolePort }: Config): string[] {
  const found: string[] = [];
  if (sources.includes('youtube-data-api') && youtubeApiKey === undefined) {
    found.push('YOUTUBE_API_KEY: is needed for the source youtube-data-api in SOURCES');
  }
  if (new Set(sources).size !== sources.length) found.push(`SOURCES: names a source twice, got "${sources}"`);
  if (consolePort !== 0 && consolePort === port)
    found.push(`CONSOLE_PORT: must differ from PORT, got "${port}" for both`);
  return found;
}
