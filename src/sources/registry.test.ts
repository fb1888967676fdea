import { Registry } from '@prometheus-io/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../test/helpers/clock.ts';
import { handleRef } from '../../test/helpers/handle.ts';
import { createTemporaryDirectory } from '../../test/helpers/temporary-directory.ts';
import { createBudgets } from '../app/upstreams.ts';
import { parseConfig } from '../config/settings.ts';
import { LocalLimitError } from '../lib/http/call-budget.ts';
import { createLogger } from '../lib/logger.ts';
import { createRuntime } from '../lib/runtime.ts';
import { createBreakers } from './breakers.ts';
import { createSources } from './registry.ts';
import type { ChannelSource } from './source.ts';

/** Nothing listens at this address, so every admitted call fails at once. */
const NOBODY = 'http://127.0.0.1:1';

async function create(env: Record<string, string>) {
  const config = parseConfig({
    SOURCES: 'youtube,youtube-data-api',
    YOUTUBE_API_KEY: 'key',
    YOUTUBE_ORIGIN: NOBODY,
    DATA_DIR: await createTemporaryDirectory(),
    ...env,
  });
  const clock = createManualClock();
  const sources = createSources(config, {
    clock,
    userAgent: 'Pennant/test',
    wrapHttp: createBudgets(config, { clock, metrics: new Registry() }),
    breakerOf: createBreakers(createRuntime({ clock, logger: createLogger({ level: 'silent' }) })).of,
    keptQuota: { read: async () => undefined, write: async () => undefined },
    onField: () => undefined,
  });
  onTestFinished(async () => {
    await Promise.all(sources.map((source) => source.close()));
  });
  return Object.fromEntries(sources.map((source) => [source.name, source]));
}

describe('the settings', () => {
  it('UPSTREAM_CALLS_PER_SECOND sets the budget of each source', async () => {
    const sources = await create({ UPSTREAM_CALLS_PER_SECOND: '2' });
    for (const name of ['youtube', 'youtube-data-api']) {
      const source = sources[name] as ChannelSource;
      const patience = new AbortController();
      // Ten seconds' calls at once, then one every half second. No call waits for more than 2 s.
      const calls = Array.from({ length: 20 + 4 + 1 }, (_, number) =>
        source.resolve(handleRef(`name${number}`), { signal: patience.signal }).catch((error: unknown) => error),
      );
      const refused = await calls.at(-1);
      expect(refused, name).toBeInstanceOf(LocalLimitError);
      expect(refused, name).toMatchObject({ retryAfterMs: 2_500 });
      patience.abort();
      await Promise.all(calls);
    }
  });

  it('YOUTUBE_API_DAILY_QUOTA limits the calls to the official API per day', async () => {
    const sources = await create({ YOUTUBE_API_DAILY_QUOTA: '7000' });
    expect(sources['youtube-data-api']?.status?.().quotas).toEqual([
      { name: 'searches', spent: 0, perDay: 70 },
      { name: 'units', spent: 0, perDay: 7_000 },
    ]);
  });

  it('SOURCES sets the order in which sources are called, and the catalog is none of them', async () => {
    const sources = await create({ SOURCES: 'youtube-data-api,catalog,youtube' });
    expect(Object.keys(sources)).toEqual(['youtube-data-api', 'youtube']);
  });
});
