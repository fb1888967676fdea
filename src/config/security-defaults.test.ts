import { expect, test } from 'vitest';
import { parseConfig } from './settings.ts';

/** Operators who start the service without reading the guide rely on these. */
test('without settings, nothing more is reachable, trusted or logged than necessary', () => {
  expect(parseConfig({})).toMatchObject({
    // The console can purge, so only this machine reaches it, under its own names.
    consoleHost: '127.0.0.1',
    consoleAllowedHosts: [],
    // No client can choose the address that its limit counts, and no client has a higher limit.
    trustProxy: [],
    rateLimit: { requests: 10, windowMs: 30_000 },
    rateLimitOverrides: [],
    rateLimitIpv6Prefix: 64,
    accessLog: false,
    logAddresses: 'truncated',
    redisUrl: undefined,
    youtubeApiKey: undefined,
  });
});
