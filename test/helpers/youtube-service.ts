import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer, youtubeSettings } from './replay-server.ts';

export interface YoutubeService {
  readonly replay: ReplayServer;
  readonly service: TestApp;
  close(): Promise<void>;
}

/** The whole service, with an upstream on this machine that shows the same picture at every address. */
export async function startYoutubeService(
  replayOptions: ReplayOptions = {},
  { env, ...options }: TestAppOptions = {},
): Promise<YoutubeService> {
  const replay = await startReplayServer(replayOptions);
  const service = await startTestApp({ env: { ...youtubeSettings(replay.origin), ...env }, ...options });
  return {
    replay,
    service,
    async close() {
      await service.close();
      await replay.close();
    },
  };
}
