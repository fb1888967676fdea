import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ShownSetting } from '../config/report.ts';
import type { Config } from '../config/settings.ts';
import { addGauges, addHolderGauges, addProcessGauges } from '../console/gauges.ts';
import { createConsoleServer } from '../console/server.ts';
import { addSourceGauges, sourceConditions } from '../console/source-status.ts';
import type { Condition } from '../console/state.ts';
import { createBaseUrls } from '../http/request/base-url.ts';
import { createClientIdentification, isPrivateAddress } from '../http/request/client-address.ts';
import { createRateLimitGate } from '../http/request/rate-limit.ts';
import { createRefusedClients } from '../http/request/refused-clients.ts';
import { createAnswerLog } from '../http/response/access-log.ts';
import { createHttpServer } from '../http/server.ts';
import type { Downloader } from '../images/download.ts';
import { createEncoder, type Encoder, type EncoderStats } from '../images/encoder/encoder.ts';
import { END_REASONS } from '../images/encoder/pool.ts';
import { createBackgroundWork } from '../lib/background-work.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { createHolders } from '../lib/holders.ts';
import type { Logger } from '../lib/logger.ts';
import { createMetrics } from '../lib/metrics/metrics.ts';
import { flushSpans, traced } from '../lib/tracing.ts';
import { createTroubleLog } from '../lib/trouble-log.ts';
import { createFallbackRateLimiter } from '../rate-limit/fallback.ts';
import { createLimitLookup } from '../rate-limit/limiter.ts';
import { createMemoryRateLimiter } from '../rate-limit/memory.ts';
import { createRedisRateLimiter } from '../rate-limit/redis.ts';
import { createBannerService } from '../services/banners.ts';
import { createChannelService } from '../services/channels.ts';
import { createPublishedTimes } from '../services/exact-publish-dates.ts';
import { createOriginals } from '../services/originals.ts';
import { createRefinements } from '../services/re-encoding.ts';
import { createRenderer } from '../services/renderer.ts';
import { createSearchService } from '../services/search.ts';
import type { ChannelSource } from '../sources/source.ts';
import { findEntryKind, STORED_KEY_KINDS } from '../store/keys.ts';
import { CHANGES_KEY } from '../store/shared-changes.ts';
import { openAppliedChanges } from './applied-changes.ts';
import { createPartStates } from './component-health.ts';
import { createFollowing } from './following.ts';
import { createStores } from './stores.ts';
import { takeDown } from './take-down.ts';
import { createUpstreams } from './upstreams.ts';

/** Parts that tests replace. */
export interface AppOverrides {
  readonly clock?: Clock;
  readonly sources?: readonly ChannelSource[];
  readonly encoder?: Encoder;
  readonly downloader?: Downloader;
}

export interface App {
  /** The public listener, not listening yet. */
  readonly http: FastifyInstance;
  /** The private listener, not listening yet. */
  readonly console: FastifyInstance;
  encoderStats(): EncoderStats;
  /** Starts what the first cold picture would wait for, and a start need not. */
  warmUp(): void;
  /** Starts what the service does beside requests, a minute from now on. */
  startBackgroundWork(): void;
  /** Does now what is due of it. */
  runDueWork(): Promise<void>;
  /** From here on `/readyz` says no: the machinery in front should send its requests elsewhere. */
  announceStop(): void;
  /** Lets what was accepted finish, then writes down what is still in memory. */
  close(): Promise<void>;
}

/** So long before connections are cut, pictures that still wait are refused: a cut connection gets no answer at all. */
const REFUSAL_MS = 1_000;
const IDLE_SWEEP_MS = 50;
const SHOWN_NETWORKS = 20;

interface BuildOptions extends AppOverrides {
  readonly logger: Logger;
  readonly version: string;
  /** The settings in force, for the console. */
  readonly settings?: readonly ShownSetting[];
}

/** Builds the whole service from the settings; nothing outside this function wires parts together. */
export async function buildApp(
  config: Config,
  { logger, version, settings = [], ...overrides }: BuildOptions,
): Promise<App> {
  const clock = overrides.clock ?? systemClock;
  const metrics = createMetrics();
  const states = createPartStates(logger, clock);
  const troubles = createTroubleLog({ logger, clock });
  const holders = createHolders();
  for (const kind of [...STORED_KEY_KINDS, 'change', 'limit']) metrics.refusedValues.inc({ kind }, 0);
  const onRefusedValue = (key: string) =>
    metrics.refusedValues.inc({ kind: key === CHANGES_KEY ? 'change' : (findEntryKind(key) ?? 'picture') });
  const applied = openAppliedChanges(config.dataDir, (error) =>
    logger.warn(
      { err: error },
      'it cannot be written down which changes are applied: the next start applies them again',
    ),
  );
  holders.add('log of failures', () => troubles.stats());
  const stores = await createStores({
    config,
    clock,
    logger,
    troubles,
    states,
    holders,
    onRefusedValue,
    startPosition: applied.positions().redis,
  });
  const { redis, store, pictures, caches } = stores;
  const following = createFollowing({ config, clock, logger, states, stores, applied });
  const upstreams = createUpstreams({
    config,
    clock,
    logger,
    troubles,
    metrics,
    states,
    holders,
    userAgent: `Pennant/${version}`,
    sources: overrides.sources,
    downloader: overrides.downloader,
    store,
    redis,
    onRecovery() {
      for (const cache of Object.values(caches)) cache.forgetFailures();
    },
  });
  const { failover } = upstreams;
  async function summarizeLog(): Promise<void> {
    troubles.summarize();
    states.summarize();
  }
  const backgroundWork = createBackgroundWork({
    tasks: [...upstreams.tasks, summarizeLog],
    onError: (error) => logger.error({ err: error }, 'work beside requests failed: a bug'),
  });

  // An alert looks at the increase of some: their series begin with the service.
  for (const reason of END_REASONS) metrics.encoderEnds.inc({ reason }, 0);
  const encoder =
    overrides.encoder ??
    createEncoder({
      ...(config.encoders > 0 && { processes: config.encoders }),
      queueLength: config.encoderQueue,
      onEvent(event) {
        if (event.kind === 'ended') metrics.encoderEnds.inc({ reason: event.reason });
        logger.debug(event, 'encoder process');
      },
      onStateChange: (problem) => states.report('encoder', problem),
      onFinished({ task, waitedMs, tookMs }) {
        metrics.encoderWaitSeconds.observe({ task }, waitedMs / 1000);
        metrics.encoderSeconds.observe({ task }, tookMs / 1000);
      },
    });
  // Services
  const publishedTimes = createPublishedTimes({
    store,
    clock,
    find: (channelId) => failover.findPublishedAt(channelId),
    onError: (error) => logger.debug({ err: error }, 'no exact publishedAt'),
    onRefused: onRefusedValue,
  });
  const channels = createChannelService({
    sources: failover,
    records: caches.records,
    names: caches.names,
    publishedTimes,
    blockedChannels: new Set(config.blockedChannels),
    clock,
  });
  const searches = createSearchService({
    search: (query, limit, from) => failover.search(query, limit, { from }),
    channels,
    cache: caches.searches,
    clock,
  });
  const originals = createOriginals({
    download: (ref, options) =>
      traced({ name: 'download original', attributes: { 'pennant.original.kind': ref.kind } }, () =>
        upstreams.downloader.download(ref, options),
      ),
    encoder,
    pictures,
    cache: caches.originals,
    reloadChannel: (channelId) => channels.reload(channelId),
    clock,
  });
  const refinements = createRefinements({
    store,
    changes: stores.changes,
    clock,
    onError(error) {
      const message = 'a picture could not be encoded again';
      troubles.report({ level: 'warn', key: message, message, fields: { err: error } });
    },
  });
  const renderer = createRenderer({ originals, encoder, pictures, refinements, changes: stores.changes, clock });
  const banners = createBannerService({ channels, originals, renderer });

  // Listeners
  const ownLimiter = createMemoryRateLimiter({ clock, maxClients: config.rateLimitClients });
  const sharedLimiter =
    redis &&
    createFallbackRateLimiter({
      shared: createRedisRateLimiter({
        connection: redis,
        onRefused: () => metrics.refusedValues.inc({ kind: 'limit' }),
      }),
      own: ownLimiter,
      clock,
    });
  const limiter = sharedLimiter ?? ownLimiter;
  const clients = createClientIdentification({
    trustedProxies: config.trustProxy,
    ipv6PrefixBits: config.rateLimitIpv6Prefix,
  });
  const gate = createRateLimitGate({
    clients,
    limitFor: createLimitLookup(config.rateLimit, config.rateLimitOverrides),
    limiter,
  });
  const refusedClients = createRefusedClients({ clock });
  const logAnswer = createAnswerLog({
    logger,
    troubles,
    logsAll: config.accessLog,
    showsAddresses: config.logAddresses === 'full',
  });
  let isForwardReported = false;
  const http = createHttpServer({
    clock,
    holders,
    gate,
    clients,
    baseUrls: createBaseUrls({ baseUrls: config.baseUrls }),
    channels,
    banners,
    searches,
    urlForm: config.urlForm,
    isNegotiating: config.negotiate,
    contact: config.contact,
    defaultLimit: config.rateLimit,
    version,
    beforeLookUp: following.beforeLookUp,
    onRoute: (route) => metrics.beginRoute(route),
    onAnswer(answered) {
      metrics.countResponse(answered);
      if (answered.status === 429) refusedClients.note(answered.client);
      logAnswer(answered);
    },
    onUntrustedForward(address) {
      if (isForwardReported || !isPrivateAddress(address)) return;
      isForwardReported = true;
      logger.warn(
        { address },
        'X-Forwarded-For comes from a private address that TRUST_PROXY does not name: all its clients share one limit',
      );
    },
  });

  let isStopping = false;
  const allUpstreams = () => [
    ...upstreams.sourceStates(),
    { name: 'image hosts', breaker: upstreams.imageHostState() },
  ];

  function conditions(): Condition[] {
    const degraded = states.problems().map(([name, detail]) => ({ name, detail, isBlocking: false }));
    const leftAlone = allUpstreams()
      .filter(({ breaker }) => breaker !== null && breaker !== 'closed')
      .map(({ name, breaker }) => ({
        name: nameInConditions(name),
        detail: `circuit breaker ${breaker}`,
        isBlocking: false,
      }));
    const ofSources = upstreams.sourceStates().flatMap(({ status }) => sourceConditions(status));
    const stopping = { name: 'stopping', detail: 'the service is being stopped', isBlocking: true };
    return [...degraded, ...leftAlone, ...ofSources, ...(isStopping ? [stopping] : [])];
  }

  holders.add('rate limit', () => ownLimiter.stats());
  if (sharedLimiter) {
    holders.add('rate limit decisions by Redis', () => ({ entries: sharedLimiter.stats().undecidedClients }));
  }
  if (redis) holders.add('commands to Redis', () => redis.stats().commands);
  holders.add('failed originals', () => originals.stats().failed);
  holders.add('originals waited for', () => originals.stats().waitedFor);
  holders.add('failed encodes', () => renderer.stats().failedEncodes);
  holders.add('refused networks', () => refusedClients.stats());
  holders.add('ETags of pictures', () => renderer.stats().etags);
  holders.add('pictures being made', () => renderer.stats().underWay);
  holders.add('pictures to encode again', refinements.stats);
  holders.add('encoder queue', () => ({ entries: encoder.stats().queued, maxEntries: config.encoderQueue }));

  function limiterFigures() {
    const { entries: clients, evicted } = ownLimiter.stats();
    return { clients, evicted };
  }

  addProcessGauges(metrics);
  addHolderGauges(metrics, holders);
  addSourceGauges(metrics, () => upstreams.sourceStates().flatMap(({ status }) => status ?? []));
  addGauges(metrics, {
    encoder: () => encoder.stats(),
    pictures() {
      const { disk, memory } = pictures.stats();
      return { plainBytes: disk.plainBytes, customBytes: disk.customBytes, memoryBytes: memory.bytes ?? 0 };
    },
    memoryEntries: () =>
      Object.fromEntries(Object.entries(caches).map(([kind, cache]) => [kind, cache.stats().memory.entries])),
    limiter: limiterFigures,
    refusedNetworks: () => refusedClients.stats().entries,
    breakers: upstreams.breakers,
    degradedParts: () => states.problems().map(([part]) => part),
    ...(redis && sharedLimiter && { redis: () => ({ ...redis.stats(), ...sharedLimiter.stats() }) }),
  });

  const consoleServer = createConsoleServer({
    readers: {
      version,
      startedAtMs: Date.now(),
      conditions,
      sources: allUpstreams,
      encoder: () => encoder.stats(),
      limiter: limiterFigures,
      refusedNetworks: () => refusedClients.list(SHOWN_NETWORKS),
      settings,
    },
    metrics,
    holders,
    purge: following.purge,
    dataDir: config.dataDir,
    allowedHosts: [config.consoleHost, ...config.consoleAllowedHosts],
    publicBase: (hostname) => config.baseUrls[0] ?? `http://${hostname}:${portOf(http)}`,
  });

  // Last: the store's thread takes its time to start, and everything above was made meanwhile.
  await stores.opened();
  await following.start();
  void takeDown({ purge: following.purge, channelIds: config.blockedChannels, logger });
  return {
    http,
    console: consoleServer,
    encoderStats: () => encoder.stats(),
    warmUp: () => encoder.warmUp(),
    startBackgroundWork: () => backgroundWork.start(),
    runDueWork: () => backgroundWork.runDue(),
    announceStop() {
      isStopping = true;
    },
    async close() {
      isStopping = true;
      backgroundWork.stop();
      // A connection whose last answer went out after the stop began would otherwise stay open for its keep-alive time.
      const sweep = setInterval(() => http.server.closeIdleConnections(), IDLE_SWEEP_MS);
      const finishMs = config.stopTimeoutSeconds * 1_000;
      const cut = setTimeout(() => http.server.closeAllConnections(), finishMs);
      const refuse = setTimeout(() => void encoder.close(), finishMs - REFUSAL_MS);
      await http.close();
      clearInterval(sweep);
      clearTimeout(cut);
      clearTimeout(refuse);
      await encoder.close();
      await upstreams.close();
      await limiter.close();
      await following.stop();
      await Promise.all([stores.close(), flushSpans()]);
    },
  };
}

function nameInConditions(upstream: string): string {
  return upstream === 'image hosts' ? upstream : `source ${upstream}`;
}

/** The port that the operating system gave, where the settings leave it the choice. */
function portOf({ server }: FastifyInstance): number | undefined {
  return (server.address() as AddressInfo | null)?.port;
}
