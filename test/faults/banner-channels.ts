import type { RequestListener } from 'node:http';
import { respondWithStatus } from '../helpers/fake-upstream.ts';
import { jsonResponse, type ReplayResponse } from '../helpers/replay-responses.ts';
import { type ReplayServer, startReplayServer } from '../helpers/replay-server.ts';

/** YouTube with a channel for each banner, which the listener sends. */
export function startBannerChannels(
  banners: readonly { readonly channelId: string; readonly send: RequestListener }[],
): Promise<ReplayServer> {
  return startReplayServer({
    responses: banners.map(({ channelId }, index) => channelPage(channelId, index)),
    image(request, response) {
      const banner = banners[Number(/^\/banner-(\d+)=/.exec(request.url ?? '')?.[1])];
      (banner?.send ?? respondWithStatus(404))(request, response);
    },
  });
}

function channelPage(channelId: string, index: number): ReplayResponse {
  const thumbnails = [{ url: `https://yt3.googleusercontent.com/banner-${index}=w1060`, width: 1060, height: 175 }];
  const metadata = { channelMetadataRenderer: { externalId: channelId, title: `Channel ${index}` } };
  const page = { metadata, header: { c4TabbedHeaderRenderer: { banner: { thumbnails } } } };
  return jsonResponse('browse', { browseId: channelId }, page);
}
