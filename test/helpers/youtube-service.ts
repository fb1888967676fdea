import { onTestFinished } from 'vitest';
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer, youtubeSettings } from './replay-server.ts';

export type YoutubeService = Awaited<ReturnType<typeof startYoutubeService>>;

/** The complete service with a replayed upstream, which has the same image at every URL. */
export async function startYoutubeService(replayOptions: ReplayOptions = {}, { env, ...options }: TestAppOptions = {}) {
  const replay = await startReplayServer(replayOptions);
  const appOptions = { ...options, env: { ...youtubeSettings(replay.origin), ...env } };
  let service = await startTestApp(appOptions);
  return {
    replay,
    /** The running service. */
    get service(): TestApp {
      return service;
    },
    /** Stops the service and starts it again with the same settings, clock and `dataDir`. */
    async restart(): Promise<TestApp> {
      await service.close();
      service = await startTestApp({ ...appOptions, clock: service.clock });
      return service;
    },
    async close() {
      await service.close();
      await replay.close();
    },
  };
}

/** The same. It closes when the test ends. */
export async function startYoutubeForTest(...options: Parameters<typeof startYoutubeService>): Promise<YoutubeService> {
  const running = await startYoutubeService(...options);
  onTestFinished(() => running.close());
  return running;
}

/** The replayed upstream alone. It closes when the test ends. */
export async function startReplayForTest(options?: ReplayOptions): Promise<ReplayServer> {
  const replay = await startReplayServer(options);
  onTestFinished(() => replay.close());
  return replay;
}
