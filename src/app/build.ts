import { createPurge } from '../cache/purge.ts';
import { createCachedChannels } from '../channels/cached-channels.ts';
import { createChannelBatches } from '../channels/channel-batches.ts';
import { createChannelService } from '../channels/channels.ts';
import { createExamples } from '../channels/examples.ts';
import { createSearchService } from '../channels/search.ts';
import type { Config } from '../config/settings.ts';
import { createMicroCache } from '../http/response/micro-cache.ts';
import { badgeRoutes } from '../http/routes/badges.ts';
import { channelBatchRoute } from '../http/routes/channel-batches.ts';
import { imageRoutes } from '../http/routes/channel-images.ts';
import { channelRoutes, searchRoute } from '../http/routes/channels.ts';
import { withDocuments } from '../http/routes/documents.ts';
import type { Downloader } from '../images/download.ts';
import type { Encoder } from '../images/encoder/encoder.ts';
import { createImageService } from '../images/image-service.ts';
import { createOriginals } from '../images/originals.ts';
import { startBackgroundWork } from '../lib/background-work.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createResponseWriter } from '../lib/http/response-writer.ts';
import type { Logger } from '../lib/logger.ts';
import { addProcessGauges } from '../lib/process-gauges.ts';
import { createRuntime } from '../lib/runtime.ts';
import { createPrivateListener } from '../private/server.ts';
import { createConsoleStateReader, type ShownSetting } from '../private/state.ts';
import type { ChannelSource } from '../sources/source.ts';
import { openStoredData } from './caches.ts';
import { openOwnCatalog } from './catalog.ts';
import { openEncoder } from './encoder.ts';
import { openPublicListener } from './public-listener.ts';
import { createUpstreams } from './upstreams.ts';

/** Components that tests replace. */
export interface AppOverrides {
  readonly clock?: Clock;
  readonly sources?: readonly ChannelSource[];
  readonly encoder?: Encoder;
  readonly downloader?: Downloader;
}

export type App = Awaited<ReturnType<typeof buildApp>>;

interface BuildOptions extends AppOverrides {
  readonly logger: Logger;
  readonly version: string;
  /** The settings in force, for the console. */
  readonly settings?: readonly ShownSetting[];
}

/** How long a stop may take. Docker kills a process ten seconds after its stop signal, and the log's last lines may take a while. */
export const STOP_MS = 9_000;
/** How much of that time accepted requests have. */
const FINISH_MS = 8_000;

/** Builds the whole service from the settings. @throws CatalogUnusableError */
export async function buildApp(config: Config, options: BuildOptions) {
  const { logger, version, settings = [], clock = systemClock, sources, downloader } = options;
  const runtime = createRuntime({ clock, logger });
  const { metrics, failureLog } = runtime;
  addProcessGauges(metrics, version);

  const microCache = createMicroCache(runtime);
  const catalog = await openOwnCatalog(config, runtime, microCache.clear);

  // Stored data
  const stored = await openStoredData(config, runtime);
  const { redis, stores, images, caches } = stored;

  // Sources of channels and images
  const upstreams = createUpstreams({ config, runtime, version, sources, downloader });
  const allSources = upstreams.sources.length === 0 ? undefined : upstreams.allSources;
  const encoder = openEncoder(config, runtime, options.encoder);

  // Services
  const blockedChannels = new Set(config.blockedChannels);
  const examples = createExamples(catalog, blockedChannels);
  const cached = allSources && createCachedChannels({ sources: allSources, ...caches, blockedChannels, clock });
  const channels = createChannelService({ catalog, cached, blockedChannels });
  const getBatch = createChannelBatches({ channels, clock });
  const searches = createSearchService({
    catalog,
    sources: allSources,
    channels,
    blockedChannels,
    cache: caches.searches,
    clock,
  });
  const originals = createOriginals({
    catalog,
    downloader: upstreams.downloader,
    encoder,
    images,
    cache: caches.originals,
    runtime,
  });
  const channelImages = createImageService({ channels, originals, encoder, images, runtime });

  // Listeners, background work and the stop
  const responseWriter = createResponseWriter(runtime);
  const { contact, rateLimit: defaultLimit, urlForm, negotiate: isNegotiating } = config;
  const routes = [
    ...channelRoutes({ channels, urlForm }),
    channelBatchRoute(getBatch, urlForm),
    searchRoute(searches, urlForm),
    ...badgeRoutes(channels),
    ...imageRoutes({ channels, channelImages, urlForm, isNegotiating }),
  ];
  const endpoints = withDocuments({ contact, defaultLimit, version, examples, endpoints: routes });
  const http = openPublicListener({ config, runtime, redis, responseWriter, endpoints, microCache });
  const state = createConsoleStateReader({ version, settings, runtime, http, upstreams, encoder });
  const purge = createPurge({
    caches,
    stores,
    images,
    blockedChannels: config.blockedChannels,
    findOwnId: async (identifier) => (await catalog?.find(identifier))?.channelId,
    forget() {
      microCache.clear();
      channelImages.forgetFailures();
    },
    runtime,
  });
  const tasks = [stored.retry, failureLog.summarize, purge.takeDown];
  const stopBackgroundWork = startBackgroundWork(clock, tasks, (error) =>
    logger.error({ err: error }, 'background work failed: a bug'),
  );
  const privateListener = createPrivateListener({ config, runtime, responseWriter, state, http, purge, examples });

  /** The stores last, because the others write to them. */
  async function closeData(): Promise<void> {
    await upstreams.close();
    catalog?.close();
    stored.close();
  }

  void purge.takeDown();
  return {
    /** Not listening yet. */
    http,
    /** The private listener, not listening yet. */
    console: privateListener,
    /** Starts an encoder process before the first image needs it. */
    warmUp: encoder.warmUp,
    /**
     * Finishes accepted requests. From its call on `/readyz` responds with 503, so that a load
     * balancer sends requests elsewhere. The private listener closes last.
     */
    async close(): Promise<void> {
      stopBackgroundWork();
      // In the last second, requests that still wait for an encoder get a 503. A connection that is cut gets no response.
      await http.finish(FINISH_MS, () => void encoder.close());
      // The stores do not wait for the end of an encoder process.
      await Promise.all([encoder.close(), closeData()]);
      await privateListener.close();
    },
  };
}
