import { describe, expect, test } from 'vitest';
import { findNameWarnings, findTracingWarnings, shownSettings } from './report.ts';

function warnings(env: Record<string, string>, inFile: readonly string[] = [], ignoredLines: readonly number[] = []) {
  return findNameWarnings(env, {
    path: '/srv/.env',
    isThere: true,
    problem: undefined,
    names: inFile,
    loaded: inFile,
    ignoredLines,
    cutLines: [],
  });
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

  test('includes OpenTelemetry’s variables without possible secrets', () => {
    const shown = shownSettings({
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:the-password@collector',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=the-token',
    });
    expect(shown.find(({ name }) => name === 'OTEL_TRACES_SAMPLER')?.value).toBe('always_on');
    expect(JSON.stringify(shown)).not.toMatch(/the-password|the-token/);
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

  test('names lines of .env that have no effect', () => {
    const names = ['BLOCKED_CHANNEL', 'SOMETHING', 'NODE_EXTRA_CA_CERTS', 'OTEL_SERVICE_NAME', 'PORT_FILE'];
    const env = Object.fromEntries(names.map((name) => [name, 'x']));
    expect(warnings(env, names, [3])).toEqual([
      '/srv/.env: line 3 has no effect (one NAME=value a line, each name once)',
      '/srv/.env: BLOCKED_CHANNEL is not a setting; did you mean BLOCKED_CHANNELS?',
      '/srv/.env: SOMETHING is not a setting',
      '/srv/.env: NODE_EXTRA_CA_CERTS has no effect here: Node reads it before this file, so set it in the environment',
      '/srv/.env: OTEL_SERVICE_NAME has no effect here: OpenTelemetry’s SDK reads it before this file, so set it in the environment',
      '/srv/.env: PORT_FILE is not a setting',
    ]);
  });

  const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

  test.each([ENDPOINT, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://user:password@collector/v1/traces' }])(
    'names the line to add when %o is set and no SDK is loaded',
    (env) => {
      const [warning, ...others] = findTracingWarnings(env, false);
      expect(warning).toMatch(/^OTEL_EXPORTER_\w+ is set, .* NODE_OPTIONS=--import=/);
      expect(warning).not.toContain('password');
      expect(others).toEqual([]);
      expect(findTracingWarnings(env, true)).toEqual([]);
    },
  );

  test.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
  ])('is not given about traces for %o', (env) => {
    expect(findTracingWarnings(env, false)).toEqual([]);
  });
});
