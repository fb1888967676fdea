import { describe, expect, it } from 'vitest';
import { findSettingWarnings } from './report.ts';
import { parseConfig } from './settings.ts';

const warningsFor = (env: Record<string, string>, isInContainer = false) =>
  findSettingWarnings(parseConfig(env), isInContainer);

describe('a warning about settings', () => {
  it('is given for TRUST_PROXY without BASE_URL', () => {
    expect(warningsFor({ TRUST_PROXY: '10.0.0.5/32' })).toEqual([
      'TRUST_PROXY is set without BASE_URL: URLs in responses follow each request’s Host',
    ]);
  });

  it.each(['0.0.0.0', '::', '203.0.113.5', '2001:db8::5'])(
    'is given for CONSOLE_HOST=%s outside of a container',
    (host) => {
      expect(warningsFor({ CONSOLE_HOST: host })).toEqual([expect.stringContaining('opens the private listener')]);
      expect(warningsFor({ CONSOLE_HOST: host }, true)).toEqual([]);
      expect(warningsFor({ CONSOLE_HOST: host, CONSOLE_PORT: '0' })).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '10.0.0.2', '::1', 'fd00::5', '100.64.0.2', 'localhost'])(
    'is not given for CONSOLE_HOST=%s',
    (host) => expect(warningsFor({ CONSOLE_HOST: host })).toEqual([]),
  );
});
