import { describe, expect, test } from 'vitest';
import { findNameWarnings, shownSettings } from './report.ts';

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
  ])('names %s, which is close to %s', (name, near) => {
    expect(findNameWarnings({ [name]: 'x' })).toEqual([`${name} is not a setting; did you mean ${near}?`]);
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
      YOUTUBE_API_KEY_FILE: '/key',
    };
    expect(findNameWarnings(env)).toEqual([]);
  });
});
