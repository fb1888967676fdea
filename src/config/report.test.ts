import { describe, expect, test } from 'vitest';
import { findWarnings } from './report.ts';
import { parseConfig } from './settings.ts';

function warnings(env: Record<string, string>, isContainer = false): string[] {
  return findWarnings(parseConfig(env), env, isContainer);
}

describe('a warning', () => {
  test.each([
    ['BLOCKED_CHANELS', 'BLOCKED_CHANNELS'],
    ['BLOCKED_CHANNNELS', 'BLOCKED_CHANNELS'],
    ['BLOCKED_CHANNELZ', 'BLOCKED_CHANNELS'],
    ['TRUST_RPOXY', 'TRUST_PROXY'],
    ['Redis_Url', 'REDIS_URL'],
    ['RATELIMIT', 'RATE_LIMIT'],
    ['RATELIMITOVERRIDES', 'RATE_LIMIT_OVERRIDES'],
    ['rate-limit-override', 'RATE_LIMIT_OVERRIDES'],
    ['YOUTUBEAPIKEY', 'YOUTUBE_API_KEY'],
    ['REDIS_URL_FILES', 'REDIS_URL_FILE'],
  ])('names %s, which is close to %s', (name, near) => {
    expect(warnings({ [name]: 'x' })).toEqual([`${name} is not a setting; did you mean ${near}?`]);
  });

  test('is not given for settings and variables of other programs', () => {
    const env = {
      PATH: '/bin',
      HOME: '/',
      HOSTNAME: 'a',
      HOSTTYPE: 'b',
      LOGNAME: 'c',
      TERM: 'x',
      npm_config_port: '1',
      PENNANT_PORT: 'tcp://1',
    };
    expect(warnings(env)).toEqual([]);
  });

  test('is given for a key that no source uses', () => {
    const env = { YOUTUBE_API_KEY: 'the-key' };
    expect(warnings(env)).toEqual([
      expect.stringMatching(/^YOUTUBE_API_KEY is set, but no source uses it(?!.*the-key)/),
    ]);
    expect(warnings({ ...env, SOURCES: 'youtube-data-api' })).toEqual([]);
  });

  test('is given for a console on every address, outside of a container', () => {
    for (const CONSOLE_HOST of ['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0']) {
      expect(warnings({ CONSOLE_HOST })).toEqual([expect.stringContaining(`CONSOLE_HOST=${CONSOLE_HOST} is every`)]);
      expect(warnings({ CONSOLE_HOST }, true)).toEqual([]);
      expect(warnings({ CONSOLE_HOST, CONSOLE_PORT: '0' })).toEqual([]);
    }
    expect(warnings({ CONSOLE_HOST: '10.0.0.1' })).toEqual([]);
  });

  test('is given for BASE_URL without TRUST_PROXY', () => {
    const env = { BASE_URL: 'https://a.example' };
    expect(warnings(env)).toEqual([expect.stringContaining('TRUST_PROXY is not')]);
    expect(warnings({ ...env, TRUST_PROXY: '10.0.0.0/8' })).toEqual([]);
  });
});
