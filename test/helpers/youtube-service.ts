import { startTestApp, type TestApp, type TestAppOptions } from './app.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from './replay-server.ts';
import { drawTestCard } from './test-card.ts';

/** The settings that lead every call of a service to one origin. */
export function youtubeSettings(origin: string): Record<string, string> {
  return { SOURCES: 'youtube', YOUTUBE_ORIGIN: origin, YOUTUBE_IMAGE_ORIGIN: origin, YOUTUBE_API_ORIGIN: origin };
}

/** A small 16:9 picture. */
function drawOriginal(): Promise<Buffer> {
  return drawTestCard({ width: 320, height: 180 }).png().toBuffer();
}

export interface YoutubeService {
  readonly replay: ReplayServer;
  readonly service: TestApp;
  close(): Promise<void>;
}

/** The whole service, with an upstream on this machine that shows the same picture at every address. */
export async function startYoutubeService(
  replayOptions: ReplayOptions,
  { env, ...options }: TestAppOptions = {},
): Promise<YoutubeService> {
  const bytes = await drawOriginal();
  const findImage = () => ({ contentType: 'image/png', bytes });
  const replay = await startReplayServer({ findImage, ...replayOptions });
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
