import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer, youtubeSettings } from './replay-server.ts';

export interface YoutubeService {
  readonly replay: ReplayServer;
  /** The one that runs. */
  readonly service: TestApp;
  /** Stops the service and starts it again with the same settings, clock and `dataDir`. */
  restart(): Promise<TestApp>;
  close(): Promise<void>;
}

/** The whole service with a replayed upstream, which has the same picture at every address. */
export async function startYoutubeService(
  replayOptions: ReplayOptions = {},
  { env, ...options }: TestAppOptions = {},
): Promise<YoutubeService> {
  const replay = await startReplayServer(replayOptions);
  const appOptions = { ...options, env: { ...youtubeSettings(replay.origin), ...env } };
  let service = await startTestApp(appOptions);
  return {
    replay,
    get service() {
      return service;
    },
    async restart() {
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
