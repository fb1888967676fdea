import type { ChannelBatches } from '../channels/channel-batches.ts';
import type { ChannelService } from '../channels/channels.ts';
import type { Examples } from '../channels/examples.ts';
import type { SearchService } from '../channels/search.ts';
import type { Config } from '../config/settings.ts';
import type { Endpoint } from '../http/request/context.ts';
import { badgeRoutes } from '../http/routes/badges.ts';
import { channelBatchRoute } from '../http/routes/channel-batches.ts';
import { imageRoutes } from '../http/routes/channel-images.ts';
import { channelRoutes, searchRoute } from '../http/routes/channels.ts';
import { withDocuments } from '../http/routes/documents.ts';
import type { ImageService } from '../images/image-service.ts';

interface EndpointsOptions {
  readonly config: Config;
  readonly version: string;
  readonly channels: ChannelService;
  readonly channelBatches: ChannelBatches;
  readonly searches: SearchService;
  readonly channelImages: ImageService;
  readonly examples: Examples;
}

/** Every path of the public listener. */
export function createEndpoints(options: EndpointsOptions): readonly Endpoint[] {
  const { config, version, channels, channelBatches, searches, channelImages, examples } = options;
  const { contact, rateLimit, urlForm, negotiate: isNegotiating } = config;
  const endpoints = [
    ...channelRoutes({ channels, urlForm }),
    channelBatchRoute({ channelBatches, urlForm }),
    searchRoute({ searches, urlForm }),
    ...badgeRoutes({ channels }),
    ...imageRoutes({ channels, channelImages, urlForm, isNegotiating }),
  ];
  return withDocuments({ contact, defaultLimit: rateLimit, version, examples, endpoints });
}
