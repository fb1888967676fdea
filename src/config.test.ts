import { describe, expect, test } from 'vitest';
import { ConfigError, parseConfig, SETTINGS } from './config.ts';

function mistakes(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes;
    throw error;
  }
}

describe('the settings', () => {
  test('all have defaults that can be used', () => {
    expect(mistakes({})).toEqual([]);
    expect(parseConfig({ PORT: '', BASE_URL: ' ' })).toMatchObject({ port: 8080, baseUrls: [] });
  });

  test('are told all at once when they cannot be used, each with its form', () => {
    const found = mistakes({
      PORT: '99999',
      MEMORY_CACHE_BYTES: 'much',
      SOURCES: 'catalog,elsewhere',
      NEGOTIATE: 'yes',
    });
    expect(found.map((mistake) => mistake.split(':')[0])).toEqual([
      'PORT',
      'SOURCES',
      'NEGOTIATE',
      'MEMORY_CACHE_BYTES',
    ]);
  });

  test.each([
    ['RATE_LIMIT', '10/30', { requests: 10, windowMs: 30_000 }],
    ['MEMORY_CACHE_BYTES', '64MiB', 64 * 2 ** 20],
    ['IMAGE_CACHE_BYTES', '1000', 1000],
    ['BASE_URL', 'https://a.example, http://b.example:8080', ['https://a.example', 'http://b.example:8080']],
    ['YOUTUBE_IMAGE_ORIGIN', '', undefined],
    ['SAMPLE_CATALOG', 'off', false],
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
    ['TRUST_PROXY', '10.0.0.1'],
    ['TRUST_PROXY', '10/8'],
    ['TRUST_PROXY', '010.0.0.0/8'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['RATE_LIMIT', '10'],
    ['RATE_LIMIT', '0/30'],
    ['RATE_LIMIT_OVERRIDES', '10.0.0.0/8'],
    ['RATE_LIMIT_OVERRIDES', '10.0.0.0/8=many'],
    ['RATE_LIMIT_IPV6_PREFIX', '129'],
    ['BASE_URL', 'https://a.example/path'],
    ['BASE_URL', 'ftp://a.example'],
    ['BASE_URL', 'https://user:secret@a.example'],
    ['BLOCKED_CHANNELS', 'pennantsample'],
    ['SOURCES', ','],
    ['SOURCES', 'catalog,catalog'],
    ['SOURCES', 'youtube-data-api'],
    ['CONSOLE_PORT', '8080'],
  ])('%s=%s is refused', (variable, value) => {
    expect(mistakes({ [variable]: value })).toHaveLength(1);
  });

  test('let an override hold for every address, which a trusted proxy may not', () => {
    expect(mistakes({ RATE_LIMIT_OVERRIDES: '0.0.0.0/0=unlimited,::/0=100/1' })).toEqual([]);
  });
});
