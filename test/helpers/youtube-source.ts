import { onTestFinished } from 'vitest';
import { createBreaker } from '../../src/lib/breaker.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createYoutubeSource, type YoutubeSourceOptions } from '../../src/sources/youtube/youtube.ts';
import { createUpstreamClient } from './fake-upstream.ts';
import { type ReplayOptions, startReplayServer } from './replay-server.ts';

/** The source over real sockets to one origin. */
export function createTestYoutubeSource(origin: string, options: Partial<YoutubeSourceOptions> = {}) {
  const common = { http: createUpstreamClient(origin), origin, clock: systemClock };
  const createOne = () => createBreaker({ clock: options.clock ?? systemClock, label: 'YouTube' });
  const breakers = {
    records: createOne(),
    names: createOne(),
    searches: createOne(),
    pages: createOne(),
    feeds: createOne(),
  };
  return createYoutubeSource({ ...common, breakers, ...options });
}

/** The source and the upstream that it asks, until the test ends. */
export async function startReplayedSource(options: ReplayOptions = {}) {
  const replay = await startReplayServer(options);
  const source = createTestYoutubeSource(replay.origin);
  onTestFinished(async () => {
    await source.close();
    await replay.close();
  });
  return { replay, source };
}

export type YoutubeSource = ReturnType<typeof createYoutubeSource>;
