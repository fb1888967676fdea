import { describe, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config/settings.ts';
import { startForTest } from '../helpers/app.ts';
import { createFakeEncoder } from '../helpers/fake-encoder.ts';

const CHANNEL = 'UCPennantSample00000001A';
/** Nothing listens at this address. The catalog has everything that is requested. */
const NOWHERE = 'http://127.0.0.1:9';

async function expectToServe(settings: Record<string, string>): Promise<void> {
  const usesEncoder = Object.keys(settings).some((name) => name.startsWith('ENCODER'));
  const service = await startForTest({
    env: {
      SOURCES: 'catalog,youtube,youtube-data-api',
      YOUTUBE_API_KEY: 'key',
      YOUTUBE_ORIGIN: NOWHERE,
      RATE_LIMIT_OVERRIDES: '',
      ...settings,
    },
    // These settings concern processes.
    ...(!usesEncoder && { encoder: createFakeEncoder() }),
  });
  const paths = [
    `/${CHANNEL}/avatar.jpg?width=20`,
    `/${CHANNEL}/avatar.png?width=20`,
    `/${CHANNEL}/avatar.jpg?width=20`,
  ];
  for (const path of [`/api/channel/${CHANNEL}`, ...paths, `/api/channel/${CHANNEL}`, '/api/search?q=pennant']) {
    expect([path, (await service.get(path)).status]).toEqual([path, 200]);
    // Longer than the window of the smallest rate limit and the time of the micro-cache.
    service.clock.advance(2_000);
  }
}

/** The ranges in the forms of values. */
const EXTREMES = Object.values(SETTINGS).flatMap(({ env, form }) => {
  const [, least, most] = /from (\S+) to ([^\s,]+)/.exec(form.expected) ?? [];
  return least === undefined || most === undefined ? [] : [[env, least, most] as const];
});

describe('the service starts and serves', () => {
  test.each([
    ['least', 1],
    ['most', 2],
  ] as const)('with the %s of every setting that has a range', async (_, at) => {
    // Port 0 turns off the console, and the two ports must differ.
    const { PORT: _port, ...settings } = Object.fromEntries(EXTREMES.map((of) => [of[0], of[at]]));
    expect(Object.keys(settings).length).toBeGreaterThan(5);
    await expectToServe(settings);
  });

  test('with 19 bytes of memory and 8 KiB of disk', () =>
    expectToServe({ MEMORY_CACHE_BYTES: '19', IMAGE_CACHE_BYTES: '8KiB' }));
});
