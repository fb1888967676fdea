import type { shownSettings } from '../config/report.ts';
import type { Config } from '../config/settings.ts';
import { createConsoleServer } from '../console/server.ts';
import type { Downloader } from '../images/download.ts';
import type { Encoder } from '../images/encoder/encoder.ts';
import { createBackgroundWork } from '../lib/background-work.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createResponseWriter } from '../lib/http/response-writer.ts';
import type { Logger } from '../lib/logger.ts';
import { addProcessGauges } from '../lib/process-gauges.ts';
import { createRuntime } from '../lib/runtime.ts';
import { createChannelBatches } from '../services/channel-batches.ts';
import { createChannelService } from '../services/channels.ts';
import { createExactPublishDates } from '../services/exact-publish-dates.ts';
import { createExamples } from '../services/examples.ts';
import { createImageService } from '../services/images.ts';
import { createOriginals } from '../services/originals.ts';
import { createReEncoding } from '../services/re-encoding.ts';
import { createSearchService } from '../services/search.ts';
import type { ChannelSource } from '../sources/source.ts';
import { openEncoder } from './encoder.ts';
import { createInvalidation } from './invalidation.ts';
import { createPublicListener } from './public-listener.ts';
import { openSavedRemovals } from './saved-removals.ts';
import { createStores } from './stores.ts';
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
  readonly settings?: ReturnType<typeof shownSettings>;
}

/** How long a stop may take. Docker kills a process ten seconds after its stop signal, and the log's last lines may take a while. */
export const STOP_MS = 9_000;
/** Of these, accepted requests have this long. */
const FINISH_MS = 8_000;

/** Builds the whole service from the settings. */
export async function buildApp(config: Config, options: BuildOptions) {
  const { logger, version, settings = [], clock = systemClock, sources, downloader } = options;
  const runtime = createRuntime({ clock, logger });
  const { metrics, holders, failureLog, health } = runtime;
  addProcessGauges(metrics);

  // Stored data, and its removal
  const saved = openSavedRemovals(config.dataDir, logger);
  const stores = await createStores(config, runtime, { startPosition: saved.state().redis });
  const { store, images, caches } = stores;
  const invalidation = createInvalidation(config, runtime, { stores, saved });
  const { purge, beforeLookUp } = invalidation;

  // Sources of channels and images
  const upstreams = createUpstreams({ config, runtime, stores, version, sources, downloader });
  const { failover } = upstreams;
  const encoder = openEncoder(config, runtime, options.encoder);

  // The functions of the product
  const publishDates = createExactPublishDates({ store, runtime, sources: failover });
  const blockedChannels = new Set(config.blockedChannels);
  const examples = createExamples(upstreams.sources, blockedChannels);
  const channels = createChannelService({
    sources: failover,
    records: caches.records,
    names: caches.names,
    publishDates,
    blockedChannels,
    clock,
  });
  const channelBatches = createChannelBatches({ channels, clock, holders });
  const searches = createSearchService({ sources: failover, channels, cache: caches.searches, clock });
  const originals = createOriginals({
    downloader: upstreams.downloader,
    encoder,
    images,
    cache: caches.originals,
    channels,
    runtime,
  });
  const reEncoding = createReEncoding({ runtime });
  const banners = createImageService({ channels, originals, encoder, images, reEncoding, runtime });

  // Listeners, background work and the stop
  const responseWriter = createResponseWriter({ runtime });
  const listener = createPublicListener({
    config,
    runtime,
    redis: stores.redis,
    responseWriter,
    version,
    beforeLookUp,
    channels,
    channelBatches,
    searches,
    banners,
    examples,
  });
  const { http, limiter, refusedClients } = listener;
  const backgroundWork = createBackgroundWork(
    [...upstreams.tasks, async () => failureLog.summarize(), async () => health.summarize()],
    (error) => logger.error({ err: error }, 'background work failed: a bug'),
  );
  const privateListener = createConsoleServer({
    config,
    runtime,
    responseWriter,
    version,
    settings,
    http,
    limiter,
    refusedClients,
    upstreams,
    encoder,
    purge,
    examples,
  });

  async function closeStores(): Promise<void> {
    await upstreams.close();
    await invalidation.stop();
    await stores.close();
  }

  // Last, because the store's thread starts while everything above is built
  await stores.opened();
  await invalidation.start();
  return {
    /** The public listener, not listening yet. */
    http,
    /** The private listener, not listening yet. */
    console: privateListener,
    examples,
    encoderStats: encoder.stats,
    /** Starts an encoder process before the first image needs it. */
    warmUp: encoder.warmUp,
    /** Logs sources that cannot be reached, and starts the background work, which begins a minute later. */
    startBackgroundWork() {
      void upstreams.checkReachability();
      backgroundWork.start();
    },
    /** Does the background work that is due. */
    runDueWork: backgroundWork.runDue,
    /**
     * Finishes accepted requests, then stores pending values. From its call on `/readyz` responds with 503, so that a load
     * balancer sends requests elsewhere.
     */
    async close(): Promise<void> {
      backgroundWork.stop();
      // Requests that still wait for an encoder then get a 503: a cut connection gets no response.
      await http.finish(FINISH_MS, () => void encoder.close());
      // The stores do not wait for the end of an encoder process.
      await Promise.all([encoder.close(), closeStores()]);
    },
  };
}
