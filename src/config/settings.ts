import { channelRefsOf, isChannelId } from '../domain/identifier.ts';
import { printable } from '../domain/printable.ts';
import * as form from '../domain/setting-forms.ts';
import { parseRedisUrl } from '../lib/redis/redis-url.ts';
import { fileVariable, readSecretFile } from './secret-files.ts';

/** Everything an operator can set, each written once: docs/settings.md and .env.example are made from this. */
export const SETTINGS = {
  port: form.setting('PORT', '8080', form.integer(0, 65_535), 'Port of the public listener; 0 takes any free one.'),
  host: form.setting('HOST', '0.0.0.0', form.text, 'Address that the public listener binds.'),
  baseUrls: form.setting(
    'BASE_URL',
    '',
    form.list(form.origin),
    'The origin (or several, comma-separated) that URLs in answers start with. Several: the one that matches `Host`, else the first. Unset: taken from `Host`.',
  ),
  urlForm: form.setting(
    'URL_FORM',
    'api',
    form.oneOf(['api', 'short']),
    'How picture URLs in a record are written: `api` = `/api/banner/{id}?type=tv`, `short` = `/{id}/tv`. Both forms are always served.',
  ),
  dataDir: form.setting('DATA_DIR', './data', form.text, 'Where the catalog, the cache and the pictures live.'),
  sources: form.setting(
    'SOURCES',
    'catalog,youtube',
    form.list(form.oneOf(['catalog', 'youtube', 'youtube-data-api']), { minimum: 1 }),
    'Where channels come from, in order of preference.',
  ),
  sampleCatalog: form.setting(
    'SAMPLE_CATALOG',
    'on',
    form.onOff,
    'Whether a catalog that does not exist yet is created with the sample channels.',
  ),
  youtubeOrigin: form.setting(
    'YOUTUBE_ORIGIN',
    'https://www.youtube.com',
    form.origin,
    'Where the `youtube` source sends its requests.',
  ),
  youtubeImageOrigin: form.setting(
    'YOUTUBE_IMAGE_ORIGIN',
    '',
    form.optional(form.origin),
    'Where pictures are fetched instead of their own hosts (`yt3.ggpht.com`, `yt3.googleusercontent.com`); the path is kept.',
  ),
  youtubeClientVersion: form.setting(
    'YOUTUBE_CLIENT_VERSION',
    '',
    form.optional(form.text),
    'The version of the web client that requests to YouTube name. Unset: a built-in one, then the current one, which is learned from YouTube once a day and whenever a version is refused.',
  ),
  youtubeUserAgent: form.setting(
    'YOUTUBE_USER_AGENT',
    '',
    form.optional(
      form.matching((value) => /^[\x20-\x7e]{1,500}$/.test(value), 'at most 500 printable ASCII characters'),
    ),
    'The `User-Agent` of requests to YouTube and its picture hosts. Unset: `Pennant/` and the version.',
  ),
  youtubeFieldMask: form.setting(
    'YOUTUBE_FIELD_MASK',
    'on',
    form.onOff,
    'Whether YouTube is asked for the needed parts of a channel page only (`$fields`).',
  ),
  youtubeAboutToken: form.setting(
    'YOUTUBE_ABOUT_TOKEN',
    'computed',
    form.oneOf(['computed', 'page']),
    'Where the token of the About panel comes from: `computed` asks for page and panel at once, `page` reads it from the page first.',
  ),
  youtubeCanary: form.setting(
    'YOUTUBE_CANARY',
    '',
    form.optional(form.matching((value) => channelRefsOf(value).length > 0, 'an @handle or a channel ID')),
    'A channel (`@handle` or ID) that has a banner, a country and links: it is loaded from YouTube now and then, past every cache, and fields that it had and has no more are reported. Unset: none.',
  ),
  youtubeCanaryInterval: form.setting(
    'YOUTUBE_CANARY_INTERVAL',
    '1h',
    form.duration(60_000, 7 * 86_400_000),
    'How often that channel is loaded (`30m`, `1h`, `1d`).',
  ),
  youtubeApiKey: form.setting(
    'YOUTUBE_API_KEY',
    '',
    form.optional(form.text),
    'Key of the `youtube-data-api` source.',
    { isSecret: true },
  ),
  youtubeApiOrigin: form.setting(
    'YOUTUBE_API_ORIGIN',
    'https://www.googleapis.com',
    form.origin,
    'Where the `youtube-data-api` source sends its requests.',
  ),
  youtubeApiDailyQuota: form.setting(
    'YOUTUBE_API_DAILY_QUOTA',
    '10000',
    form.integer(1, 1_000_000_000),
    'Units a day that the `youtube-data-api` source may spend on channels, one each; searches have an allowance of their own.',
  ),
  youtubeApiDailySearches: form.setting(
    'YOUTUBE_API_DAILY_SEARCHES',
    '100',
    form.integer(1, 1_000_000_000),
    'Searches a day that the `youtube-data-api` source may make, spread over the day: a fifth of them at once.',
  ),
  upstreamCallsPerSecond: form.setting(
    'UPSTREAM_CALLS_PER_SECOND',
    '10',
    form.integer(1, 100_000),
    'Outgoing calls a second to each source, pictures counted apart; while others ask, a client has a quarter at most.',
  ),
  upstreamCallBurst: form.setting(
    'UPSTREAM_CALL_BURST',
    '100',
    form.integer(1, 1_000_000),
    'Outgoing calls that may be made at once after a quiet time; a client has a quarter at most, one alone three.',
  ),
  trustProxy: form.setting(
    'TRUST_PROXY',
    '',
    form.list(form.proxyCidr),
    'Addresses (CIDRs, comma-separated) of the proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.',
  ),
  rateLimit: form.setting(
    'RATE_LIMIT',
    '10/30',
    form.rateLimit,
    'Requests per seconds that one client may make, as `requests/seconds`.',
  ),
  rateLimitOverrides: form.setting(
    'RATE_LIMIT_OVERRIDES',
    '',
    form.list(form.rateLimitOverride),
    'Other limits for some clients: `CIDR=requests/seconds` or `CIDR=unlimited`, comma-separated; the longest prefix wins.',
  ),
  rateLimitIpv6Prefix: form.setting(
    'RATE_LIMIT_IPV6_PREFIX',
    '64',
    form.integer(1, 128),
    'How many leading bits of an IPv6 address make one client.',
  ),
  rateLimitClients: form.setting(
    'RATE_LIMIT_CLIENTS',
    '1000000',
    form.integer(1000, 100_000_000),
    'How many clients the limiter remembers; those with most budget left are forgotten first.',
  ),
  negotiate: form.setting(
    'NEGOTIATE',
    'on',
    form.onOff,
    'Whether the picture format follows `Accept`. `off` for caches that ignore `Vary`: JPEG or PNG unless a format is asked for.',
  ),
  blockedChannels: form.setting(
    'BLOCKED_CHANNELS',
    '',
    form.list(form.matching(isChannelId, 'a channel ID')),
    'Channel IDs, comma-separated, that are answered with 451 everywhere.',
  ),
  redisUrl: form.setting(
    'REDIS_URL',
    '',
    form.optional(parseRedisUrl),
    'A Redis or Valkey that all instances share (`redis://`, `rediss://` for TLS, `unix://` for a socket): rate limit, records, searches and small pictures. Unset: each instance has its own (docs/redis.md).',
    { isSecret: true },
  ),
  memoryCacheBytes: form.setting(
    'MEMORY_CACHE_BYTES',
    '64MiB',
    form.bytes('1TiB'),
    'Memory for records, searches and pictures in use. Records and searches have 40 % of it, and never more than 40 % of the heap that Node allows itself.',
  ),
  imageCacheBytes: form.setting(
    'IMAGE_CACHE_BYTES',
    '2GiB',
    form.bytes('1024TiB'),
    'Disk space for originals and pictures, in whole blocks of 4 KiB. At most 500,000 files are kept.',
  ),
  encoders: form.setting(
    'ENCODERS',
    '0',
    form.integer(0, 256),
    'Encoder processes; 0 takes as many as there are processors (a container’s limit counts).',
  ),
  encoderQueue: form.setting(
    'ENCODER_QUEUE',
    '64',
    form.integer(1, 100_000),
    'Pictures that may wait for an encoder; beyond it clients get 503.',
  ),
  contact: form.setting(
    'CONTACT',
    '',
    form.optional(form.text),
    'How to reach the operator for higher limits; shown in the index and in 429 answers.',
  ),
  logLevel: form.setting(
    'LOG_LEVEL',
    'info',
    form.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'What is logged.',
  ),
  accessLog: form.setting('ACCESS_LOG', 'off', form.onOff, 'Whether every answer is logged, one line each.'),
  logAddresses: form.setting(
    'LOG_ADDRESSES',
    'cut',
    form.oneOf(['cut', 'full']),
    'How clients appear in the log: `cut` = their network (IPv4 /24, IPv6 /48), `full` = their address.',
  ),
  stopTimeoutSeconds: form.setting(
    'STOP_TIMEOUT_SECONDS',
    '8',
    form.integer(2, 600),
    'How long requests that were accepted before a stop may take to finish. What stops the process (systemd, Docker, Kubernetes) should wait longer before it kills.',
  ),
  consolePort: form.setting(
    'CONSOLE_PORT',
    '8081',
    form.integer(0, 65_535),
    'Port of the private listener (health, readiness, metrics); 0 turns it off.',
  ),
  consoleHost: form.setting('CONSOLE_HOST', '127.0.0.1', form.text, 'Address that the private listener binds.'),
  consoleAllowedHosts: form.setting(
    'CONSOLE_ALLOWED_HOSTS',
    '',
    form.list(form.text),
    'Names (comma-separated, without port) by which the private listener may be asked, beside `localhost`, the loopback addresses and `CONSOLE_HOST`.',
  ),
} as const;

export type Config = { readonly [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name]['parse']> };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every mistake in the settings at once: the operator mends them in one go. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(`The settings cannot be used:\n${mistakes.map((mistake) => `  ${printable(mistake)}`).join('\n')}`);
    this.name = 'ConfigError';
    this.mistakes = mistakes;
  }
}

/**
 * Reads the settings; an empty variable counts as unset. A secret may be in the file that `NAME_FILE` names.
 *
 * @throws ConfigError that lists every variable that cannot be used and the form it should have.
 */
export function parseConfig(env: Environment): Config {
  const mistakes: string[] = [];
  const values = Object.entries(SETTINGS).map(([name, { env: variable, fallback, parse, isSecret }]) => {
    const given = isSecret ? givenSecret(env, variable) : { origin: variable, text: () => textIn(env, variable) };
    try {
      return [name, parse(given.text() || fallback)];
    } catch (error) {
      if (!(error instanceof form.SettingError)) throw error;
      mistakes.push(`${given.origin}: ${error.message}`);
      return [name, undefined];
    }
  });
  const config = Object.fromEntries(values) as Config;
  if (mistakes.length === 0) mistakes.push(...contradictions(config));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

interface Given {
  /** What a mistake in it is reported under. */
  readonly origin: string;
  /** @throws form.SettingError */
  text(): string;
}

function givenSecret(env: Environment, variable: string): Given {
  const path = textIn(env, fileVariable(variable));
  if (path === '') return { origin: variable, text: () => textIn(env, variable) };
  return {
    origin: `${fileVariable(variable)} (${path})`,
    text() {
      if (textIn(env, variable) === '') return readSecretFile(path);
      throw new form.SettingError(`${variable} is set as well: set one of the two`);
    },
  };
}

/** Without blanks around it; empty where it is not set. */
export function textIn(env: Environment, variable: string): string {
  return env[variable]?.trim() ?? '';
}

function contradictions(config: Config): string[] {
  const found: string[] = [];
  if (config.sources.includes('youtube-data-api') && config.youtubeApiKey === undefined) {
    found.push('YOUTUBE_API_KEY: is needed for the source youtube-data-api in SOURCES');
  }
  if (config.youtubeCanary !== undefined && !config.sources.includes('youtube')) {
    found.push('YOUTUBE_CANARY: needs the source youtube in SOURCES');
  }
  if (new Set(config.sources).size !== config.sources.length) found.push('SOURCES: names a source twice');
  if (config.consolePort !== 0 && config.consolePort === config.port) {
    found.push('CONSOLE_PORT: must differ from PORT');
  }
  return found;
}
