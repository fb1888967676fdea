import { onTestFinished } from 'vitest';
import { createUnlimitedGates } from '../../src/sources/gates.ts';
import { createYoutubeSource, type YoutubeSourceOptions } from '../../src/sources/youtube/youtube.ts';
import { createManualClock } from './clock.ts';
import { createTestClient } from './fake-upstream.ts';
import { type ReplayOptions, startReplayServer } from './replay-server.ts';

/** The source over real sockets to one origin. */
export function createTestYoutubeSource(origin: string, options: Partial<YoutubeSourceOptions> = {}) {
  const { clock = createManualClock() } = options;
  const http = createTestClient(clock);
  const gateOf = createUnlimitedGates(http, clock);
  return createYoutubeSource({ origin, clock, gateOf, ...options });
}

/** The source and the upstream that it asks, until the test ends. */
export async function startReplayedSource(options: ReplayOptions = {}) {
  const replay = await startReplayServer(options);
  const source = createTestYoutubeSource(replay.origin);
  onTestFinished(replay.close);
  return { replay, source };
}

export type YoutubeSource = ReturnType<typeof createYoutubeSource>;
