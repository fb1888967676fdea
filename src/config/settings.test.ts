import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { OperatorError } from '../domain/errors.ts';
import { shownSettings } from './report.ts';
import { parseConfig, SETTINGS } from './settings.ts';

function mistakes(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const [headline, ...lines] = error.message.split('\n');
    expect(headline).toBe('The settings cannot be used:');
    return lines.map((line) => line.trim());
  }
}

describe('the settings', () => {
  test('have valid defaults', () => {
    expect(mistakes({})).toEqual([]);
    expect(parseConfig({ PORT: '', BASE_URL: ' ' })).toMatchObject({ port: 8080, baseUrls: [] });
  });

  test('are safe by default', () => {
    expect(parseConfig({})).toMatchObject({
      consoleHost: '127.0.0.1',
      consoleAllowedHosts: [],
      trustProxy: [],
      rateLimit: { requests: 10, windowMs: 30_000 },
      rateLimitOverrides: [],
      rateLimitIpv6Prefix: 64,
      logLevel: 'info',
      accessLog: false,
      youtubeOrigin: undefined,
      redisUrl: undefined,
      youtubeApiKey: undefined,
    });
  });

  test('are all reported at once when they are invalid, each with its form and the value', () => {
    const env = { PORT: '99999', MEMORY_CACHE_BYTES: 'much', SOURCES: 'catalog,elsewhere,', NEGOTIATE: 'yes' };
    expect(mistakes(env)).toEqual([
      'PORT: must be a whole number from 0 to 65535, got "99999"',
      expect.stringMatching(/^SOURCES: must be a comma-separated list; .*, got "elsewhere"$/),
      'NEGOTIATE: must be on or off, got "yes"',
      expect.stringMatching(/^MEMORY_CACHE_BYTES: .*, got "much"$/),
    ]);
    expect(mistakes({ SOURCES: ',' })).toEqual([expect.stringMatching(/, got no item$/)]);
  });

  test('are reported without what may be a secret or controls a terminal', () => {
    const found = [
      ...mistakes({ REDIS_URL: 'the-password' }),
      ...mistakes({ BASE_URL: 'redis://:the-password@cache' }),
      ...mistakes({ HOST: 'user:the-password@cache' }),
      ...mistakes({ LOG_LEVEL: '\u001b[2J' }),
    ];
    expect(found).toHaveLength(4);
    expect(found.join()).not.toMatch(/the-password|\p{Cc}/u);
  });

  test.each([
    ['RATE_LIMIT', '10/30', { requests: 10, windowMs: 30_000 }],
    ['MEMORY_CACHE_BYTES', '64MiB', 64 * 2 ** 20],
    ['IMAGE_CACHE_BYTES', '1000', 1000],
    ['BASE_URL', 'https://a.example, http://b.example:8080/', ['https://a.example', 'http://b.example:8080']],
    ['BASE_URL', 'HTTPS://A.example:443/x, http://[::1]/~y/.z/', ['https://a.example/x', 'http://[::1]/~y/.z']],
    ['RATE_LIMIT', '10000/99999', { requests: 10_000, windowMs: 99_999_000 }],
    ['YOUTUBE_ORIGIN', '', undefined],
    ['REDIS_URL', 'rediss://user:p%40ss@cache.example', 'rediss://user:p%40ss@cache.example'],
    ['REDIS_URL', 'redis://[2001:db8::7]:7000/3', 'redis://[2001:db8::7]:7000/3'],
    ['REDIS_URL', 'unix:///run/redis.sock?db=2', 'unix:///run/redis.sock?db=2'],
    ['RATE_LIMIT_OVERRIDES', '', []],
  ])('%s=%s is read', (variable, value, expected) => {
    const name = Object.entries(SETTINGS).find(([, { env }]) => env === variable)?.[0];
    expect(parseConfig({ [variable]: value })[name as keyof typeof SETTINGS]).toEqual(expected);
  });

  test.each([
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '::/0'],
    ['TRUST_PROXY', '::ffff:0:0/96'],
    // The forms of IPv4 in IPv6, in which no client is looked up.
    ['TRUST_PROXY', '::ffff:10.0.0.0/104'],
    ['RATE_LIMIT_OVERRIDES', '64:ff9b::203.0.113.0/120=20/30'],
    ['TRUST_PROXY', '10.0.0.1'],
    ['TRUST_PROXY', '10/8'],
    ['TRUST_PROXY', '010.0.0.0/8'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '10.0.0.5/8'],
    ['RATE_LIMIT_OVERRIDES', '10.0.0.5/8=unlimited'],
    ['RATE_LIMIT_OVERRIDES', '2001:db8::1/32=20/30'],
    ['HOST', '[::]'],
    ['CONSOLE_HOST', '127.0.0.1:8081'],
    ['CONSOLE_ALLOWED_HOSTS', 'a.example:8081'],
    ['CONSOLE_ALLOWED_HOSTS', 'https://a.example'],
    ['DATA_DIR', '~/data'],
    ['BASE_URL', 'https://*.example'],
    ['RATE_LIMIT', '10'],
    ['RATE_LIMIT', '0/30'],
    ['RATE_LIMIT_OVERRIDES', '10.0.0.0/8'],
    ['RATE_LIMIT_OVERRIDES', '10.0.0.0/8=many'],
    ['RATE_LIMIT_IPV6_PREFIX', '129'],
    ...['?query', '/x?query', '#top', '/x#', '/../x', '/x/.', '/x/%2e%2E', '/x//y', '/x\\y'].map((end) => [
      'BASE_URL',
      `https://a.example${end}`,
    ]),
    ['RATE_LIMIT', '10001/30'],
    ['RATE_LIMIT_OVERRIDES', '10.0.0.0/8=99999/30'],
    ['BASE_URL', 'ftp://a.example'],
    ['BASE_URL', 'https://user:secret@a.example'],
    // A URL with a password and no user name.
    ['BASE_URL', 'https://:secret@a.example'],
    ['REDIS_URL', 'cache:6379'],
    ['REDIS_URL', 'http://cache'],
    ['REDIS_URL', 'redis://'],
    ['REDIS_URL', 'redis://cache:70000'],
    ['REDIS_URL', 'redis://cache/first'],
    ['REDIS_URL', 'redis://cache?db=1'],
    ['REDIS_URL', 'redis://user:%zz@cache'],
    ['REDIS_URL', 'unix://host/redis.sock'],
    ['REDIS_URL', 'unix:///run/'],
    ['BLOCKED_CHANNELS', 'pennantsample'],
    ['SOURCES', ','],
    ['SOURCES', 'catalog,catalog'],
    ['SOURCES', 'youtube-data-api'],
    ['CONSOLE_PORT', '8080'],
  ])('%s=%s is refused', (variable, value) => {
    expect(mistakes({ [variable]: value })).toHaveLength(1);
  });

  test.each(Object.values(SETTINGS))(
    'refuse a line break in $env, and do not repeat the value',
    ({ env: variable }) => {
      for (const lineBreak of ['\n', '\r\n', '\r']) {
        const found = mistakes({ [variable]: `https://user:PASS@WORD${lineBreak}YOUTUBE_API_KEY=the-key` });
        expect(found).toEqual([expect.stringMatching(new RegExp(`^${variable}: must be `))]);
        expect(found.join()).not.toMatch(/PASS|WORD|the-key/);
      }
    },
  );

  test('accept an override for every address, but not a trusted proxy of every address', () => {
    expect(mistakes({ RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited,::/0=100/1' })).toEqual([]);
  });
});

describe('a secret in a file', () => {
  async function secretFile(content: string): Promise<string> {
    const path = join(await createTemporaryDirectory(), 'secret');
    await writeFile(path, content);
    return path;
  }

  test('is read without the line end, and is never shown', async () => {
    const keyFile = await secretFile('the-key\n');
    const urlFile = await secretFile('redis://:the-password@cache:6380/2\r\n');
    const env = { YOUTUBE_API_KEY_FILE: keyFile, REDIS_URL_FILE: urlFile, SOURCES: 'youtube-data-api' };
    expect(parseConfig(env)).toMatchObject({
      youtubeApiKey: 'the-key',
      redisUrl: 'redis://:the-password@cache:6380/2',
    });
    const shown = shownSettings(env);
    expect(shown).toContainEqual({
      name: 'YOUTUBE_API_KEY',
      value: 'set (not shown)',
      origin: 'YOUTUBE_API_KEY_FILE, environment',
    });
    expect(shown).toContainEqual(expect.objectContaining({ name: 'REDIS_URL', value: 'set (not shown)' }));
    expect(JSON.stringify(shown)).not.toMatch(/the-key|the-password/);
  });

  test('is refused with the name of the variable, without its path and content', async () => {
    const empty = await secretFile(' \n');
    const wrong = await secretFile('http://:the-password@cache');
    expect(mistakes({ YOUTUBE_API_KEY_FILE: empty, REDIS_URL_FILE: wrong, PORT: 'http' })).toEqual([
      expect.stringMatching(/^PORT: must/),
      'YOUTUBE_API_KEY_FILE: must be the path of a file with a text in one line',
      expect.stringMatching(/^REDIS_URL_FILE: must be the path of a file with redis:\/\/(?!.*the-password)/),
    ]);
    for (const path of ['/the-key', join(empty, '..'), await secretFile('redis://cache\nthe-key\n')]) {
      expect(mistakes({ REDIS_URL_FILE: path })).toEqual([
        expect.stringMatching(/^REDIS_URL_FILE: must (?!.*the-key)/),
      ]);
    }
  });

  test('is read if the variable of the secret itself is empty', async () => {
    const path = await secretFile('of-the-file');
    expect(parseConfig({ YOUTUBE_API_KEY: ' ', YOUTUBE_API_KEY_FILE: path }).youtubeApiKey).toBe('of-the-file');
    expect(parseConfig({ YOUTUBE_API_KEY: 'key', YOUTUBE_API_KEY_FILE: path }).youtubeApiKey).toBe('key');
  });

  test('is accepted for secrets only', async () => {
    expect(parseConfig({ PORT_FILE: await secretFile('1') }).port).toBe(8080);
  });
});

describe('a proxy of outgoing calls', () => {
  test.each(['http://proxy:3128', 'https://proxy', 'http://user:p%40ss@10.0.0.1:8080/', 'http://[::1]:3128'])(
    'may be %s, in either letter case',
    (url) => {
      expect(parseConfig({ HTTPS_PROXY: ` ${url} `, NO_PROXY: 'a' }).proxyEnv).toEqual({
        HTTPS_PROXY: url,
        NO_PROXY: 'a',
      });
      expect(parseConfig({ HTTPS_PROXY: 'x', https_proxy: url }).proxyEnv).toEqual({ HTTPS_PROXY: url, NO_PROXY: '' });
    },
  );

  test.each([
    'socks5://proxy:1080',
    'proxy:3128',
    'localhost:3128',
    'HTTP://proxy',
    '//proxy',
    'http://',
    'http://proxy:99999',
    'http://proxy/path',
    'http://a b',
    'http://u:%ff@proxy',
    'ftp://user:secret@proxy',
  ])('is refused in the form %s, which Node does not use', (url) => {
    const expected = 'HTTPS_PROXY: must be http://[user:password@]host[:port], or the same with https://';
    expect(mistakes({ HTTPS_PROXY: url })).toEqual([expected]);
    expect(mistakes({ https_proxy: url })).toEqual([expected.replace('HTTPS_PROXY', 'https_proxy')]);
  });

  test('is neither in ALL_PROXY nor in HTTP_PROXY', () => {
    expect(parseConfig({ ALL_PROXY: 'http://a', HTTP_PROXY: 'http://a', https_proxy: ' ' }).proxyEnv).toBeUndefined();
  });
});
