import { describe, expect, it } from 'vitest';
import { findConsoleWarnings, findSettingWarnings } from './report.ts';
import { parseConfig } from './settings.ts';

const warningsFor = (env: Record<string, string>) => findSettingWarnings(parseConfig(env));

describe('findSettingWarnings', () => {
  it('is empty for the defaults', () => {
    expect(warningsFor({})).toEqual([]);
  });

  it('warns about TRUST_PROXY without BASE_URL', () => {
    expect(warningsFor({ TRUST_PROXY: '10.0.0.5/32' })).toEqual([
      'TRUST_PROXY is set without BASE_URL: URLs in responses follow each request’s Host',
    ]);
  });

  it('warns about BASE_URL without CONTACT', () => {
    expect(warningsFor({ BASE_URL: 'https://a.example' })).toEqual([
      'BASE_URL is set without CONTACT: responses do not say whom to ask for a higher limit or a take-down',
    ]);
    expect(warningsFor({ BASE_URL: 'https://a.example', CONTACT: 'ops@a.example' })).toEqual([]);
  });

  it('warns that the catalog comes first, wherever SOURCES names it', () => {
    expect(warningsFor({ SOURCES: 'youtube,catalog' })).toEqual([
      'SOURCES names the catalog after another source, but it always comes first',
    ]);
    expect(warningsFor({ SOURCES: 'catalog,youtube' })).toEqual([]);
    expect(warningsFor({ SOURCES: 'youtube' })).toEqual([]);
  });

  it('warns about a key of a source that SOURCES does not name', () => {
    expect(warningsFor({ YOUTUBE_API_KEY: 'a-key' })).toEqual([
      'YOUTUBE_API_KEY is set, but the service does not use it: SOURCES does not name youtube-data-api',
    ]);
    expect(warningsFor({ YOUTUBE_API_KEY: 'a-key', SOURCES: 'catalog,youtube-data-api' })).toEqual([]);
  });

  it.each(['127.0.0.0/8', '::1/128', '10.0.0.0/8', '192.168.1.7/32', 'fd00::/8', '100.64.0.0/10'])(
    'warns that %s without a limit removes the limit of all clients of a proxy there',
    (network) => {
      expect(warningsFor({ RATE_LIMIT_OVERRIDES: `203.0.113.0/24=unlimited,${network}=unlimited` })).toEqual([
        `RATE_LIMIT_OVERRIDES has ${network}=unlimited and TRUST_PROXY is not set: behind a proxy at such an address, no client has a limit`,
      ]);
    },
  );

  it.each([
    {
      RATE_LIMIT_OVERRIDES: '127.0.0.0/8=unlimited',
      TRUST_PROXY: '127.0.0.1/32',
      BASE_URL: 'https://a.example',
      CONTACT: 'ops@a.example',
    },
    { RATE_LIMIT_OVERRIDES: '127.0.0.0/8=1000/30' },
    { RATE_LIMIT_OVERRIDES: '203.0.113.0/24=unlimited' },
  ])('is empty for %o', (env) => {
    expect(warningsFor(env)).toEqual([]);
  });
});

describe('findConsoleWarnings', () => {
  it.each(['0.0.0.0', '::', '::0', '203.0.113.5', '2001:db8::5'])(
    'warns about CONSOLE_HOST=%s outside of a container',
    (host) => {
      const config = parseConfig({ CONSOLE_HOST: host });
      expect(findConsoleWarnings(config, false)).toEqual([
        expect.stringMatching(
          /^CONSOLE_HOST=.* opens the private listener to everyone who reaches this machine: set an /,
        ),
      ]);
      expect(findConsoleWarnings(config, true)).toEqual([]);
    },
  );

  it('is empty for another address, and without a private listener', () => {
    expect(findConsoleWarnings(parseConfig({}), false)).toEqual([]);
    for (const CONSOLE_HOST of ['10.0.0.2', '::1', 'fd00::5', '100.64.0.2', 'localhost']) {
      expect(findConsoleWarnings(parseConfig({ CONSOLE_HOST }), false)).toEqual([]);
    }
    expect(findConsoleWarnings(parseConfig({ CONSOLE_HOST: '0.0.0.0', CONSOLE_PORT: '0' }), false)).toEqual([]);
  });
});
