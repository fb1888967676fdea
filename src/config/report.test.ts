import { describe, expect, test } from 'vitest';
import { findNameWarnings, shownSettings } from './report.ts';

function warnings(env: Record<string, string>, inFile: readonly string[] = []) {
  return findNameWarnings(env, { path: '/srv/.env', isThere: true, names: inFile, loaded: inFile });
}

describe('the settings report', () => {
  test('shows where each value comes from', () => {
    const env = { PORT: '80', BASE_URL: 'https://a.example', CONTACT: ' ', REDIS_URL_FILE: '/run/redis' };
    const origins = shownSettings(env, ['BASE_URL', 'REDIS_URL_FILE']).map(({ name, origin }) => [name, origin]);
    expect(Object.fromEntries(origins)).toMatchObject({
      PORT: 'environment',
      BASE_URL: '.env',
      CONTACT: 'default',
      REDIS_URL: 'REDIS_URL_FILE, .env',
    });
  });
});

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
  ])('names %s in the environment, which is close to %s', (name, near) => {
    expect(warnings({ [name]: 'x' })).toEqual([`environment: ${name} is not a setting; did you mean ${near}?`]);
  });

  test('is not given for variables of other programs', () => {
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
    expect(warnings({}, ['NODE_ENV', 'TZ', 'PORT', 'YOUTUBE_API_KEY_FILE'])).toEqual([]);
  });

  test('names variables of .env that are no settings', () => {
    const names = ['BLOCKED_CHANNEL', 'SOMETHING', 'PORT_FILE'];
    expect(warnings(Object.fromEntries(names.map((name) => [name, 'x'])), names)).toEqual([
      '/srv/.env: BLOCKED_CHANNEL is not a setting; did you mean BLOCKED_CHANNELS?',
      '/srv/.env: SOMETHING is not a setting',
      '/srv/.env: PORT_FILE is not a setting',
    ]);
  });
});
