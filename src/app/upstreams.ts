import type { Config } from '../config/settings.ts';
import type { SourceReading } from '../console/source-status.ts';
import type { PauseState } from '../domain/source-status.ts';
import { createDownloader, type Downloader, IMAGE_HOSTS } from '../images/download.ts';
import type { Clock } from '../lib/clock.ts';
import { createCallBudget, guardHttpClient } from '../lib/http/call-budget.ts';
import { createHttpClient, type HttpClient } from '../lib/http/client.ts';
import type { Pause } from '../lib/http/pause.ts';
import { describeFailure } from '../lib/logger.ts';
import { createRedisLease } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createFailover } from '../sources/failover.ts';
import { addPauseGauges, createPauses } from '../sources/pauses.ts';
import { createReachability } from '../sources/reachability.ts';
import { createSources } from '../sources/registry.ts';
import { type ChannelSource, type KeptText, SOLO_LEASE } from '../sources/source.ts';
import { addSourceGauges, createSourceMetrics } from '../sources/source-metrics.ts';
import { type KeptName, keptKey } from '../store/keys.ts';
import { FOR_GOOD_MS, type Store } from '../store/store.ts';
import type { Stores } from './stores.ts';

interface UpstreamsOptions {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly stores: Pick<Stores, 'redis'> & {
    readonly store: Pick<Store, 'get' | 'set'>;
    /** Their remembered failures are dropped when the client version changes. */
    readonly caches: Readonly<Record<string, { forgetFailures(): void }>>;
  };
  readonly version: string;
  /** Replaces the sources in the settings. */
  readonly sources?: readonly ChannelSource[] | undefined;
  readonly downloader?: Downloader | undefined;
}

/** The sources of channels and images, with the pause of each. */
export function createUpstreams(options: UpstreamsOptions) {
  const { config, runtime, stores, version } = options;
  const userAgent = `Pennant/${version}`;
  const { clock, logger, failureLog, metrics, holders } = runtime;
  const withBudget = createBudgets(config, runtime);
  const sourceMetrics = createSourceMetrics(metrics);
  const pauses = createPauses({ clock, onChange: logPause });
  addPauseGauges(metrics, pauses);

  function logPause(source: string, state: PauseState | undefined): void {
    // The log already says that it cannot be reached, and will say when it can.
    if (reachability.isReported(source)) return;
    if (state === undefined) logger.info({ source }, `${source} is asked again`);
    else logger.warn({ source }, state.description);
  }

  const keep = (name: KeptName): KeptText => ({
    // The store reports its failures.
    read: async () => (await stores.store.get(keptKey(name)))?.value,
    write: (value) => stores.store.set(keptKey(name), { value, storedAtMs: clock.now() }, FOR_GOOD_MS),
  });
  const sources =
    options.sources ??
    createSources(config, {
      clock,
      userAgent,
      wrapHttp: (upstream, http) =>
        // Searches and channels of the YouTube Data API have pauses of their own.
        upstream === 'youtube' ? pauses.of(upstream).guard(withBudget(upstream, http)) : withBudget(upstream, http),
      pauseOf: pauses.of,
      keptCanary: keep('youtube-canary'),
      keptQuota: keep('youtube-data-api-quota'),
      lease: stores.redis === undefined ? SOLO_LEASE : createRedisLease({ connection: stores.redis }),
      onClientVersion(from, to) {
        logger.info({ from, to }, 'YouTube client version changed');
        pauses.of('youtube').forgetFailures();
        // Earlier failures say nothing about requests with the new version.
        for (const cache of Object.values(stores.caches)) cache.forgetFailures();
      },
      onField: sourceMetrics.countField,
    });
  for (const source of sources) {
    for (const [name, stats] of Object.entries(source.holders ?? {})) holders.add(name, stats);
  }
  function openPause(name: string): Pause {
    const pause = pauses.of(name);
    holders.add(`failed requests to ${name}`, pause.stats);
    return pause;
  }

  for (const { name } of sources) openPause(name);
  const reachability = createReachability(sources, logger);
  const failover = createFailover({
    sources,
    pauseOf: pauses.ofCall,
    clock,
    onOutcome({ source, operation, outcome, durationMs, wasMade, error }) {
      sourceMetrics.countCall({ source, operation, outcome, durationMs, wasMade });
      // The line about the pause says why.
      const isExplained = outcome !== 'internal' && pauses.isPaused(source, operation);
      if (reachability.note({ source, outcome, error }) || isExplained) {
        failureLog.markExplained();
      } else if (outcome !== 'found' && outcome !== 'channel_not_found') {
        const reason = describeFailure(error);
        const isBug = outcome === 'internal';
        failureLog.report({
          level: isBug ? 'error' : 'warn',
          key: `source ${source} ${operation} ${outcome} ${isBug ? reason : ''}`,
          message: 'source failed',
          fields: {
            ...{ source, operation, outcome, durationMs: Math.round(durationMs) },
            ...(isBug ? { err: error } : { reason }),
          },
        });
      }
    },
  });

  const imageClient = withBudget('image hosts', createImageClient(config, userAgent, clock));
  const isYoutubeAsked = sources.some(({ name }) => name === 'youtube');
  // Where YouTube refuses this address, its images are not loaded either.
  const imageHttp = isYoutubeAsked ? pauses.of('youtube').guard(imageClient, 'refused') : imageClient;
  const imagePause = openPause('image hosts');
  const downloads = metrics.createCounter('pennant_image_host_calls_total', 'Downloads from image hosts, by outcome.', [
    'outcome',
  ]);
  const downloader =
    options.downloader ??
    createDownloader({
      http: imageHttp,
      imageOrigin: config.youtubeImageOrigin,
      clock,
      pause: imagePause,
      onOutcome: (outcome) => downloads.inc({ outcome }),
    });

  /** Each source, the searches of the YouTube Data API, and the image hosts. */
  function states(): readonly SourceReading[] {
    const readings = new Map<string, SourceReading>(
      sources.map(({ name, status }) => [name, { name, pause: undefined, status: status?.() }]),
    );
    for (const { name, pause } of pauses.states()) readings.set(name, { ...readings.get(name), name, pause });
    return [...readings.values()];
  }

  addSourceGauges(metrics, () => sources.flatMap((source) => source.status?.() ?? []));

  return {
    sources,
    failover,
    downloader,
    states,
    /** The background work of the sources. */
    tasks: [...sources.map((source) => async () => source.runDueWork?.()), reachability.checkReported],
    checkReachability: reachability.check,
    async close(): Promise<void> {
      await Promise.all(sources.map((source) => source.close()));
      await imageHttp.close();
    },
  };
}

/** The calls of this time may be made at once after a quiet time. */
const BURST_SECONDS = 10;

/** Gives the HTTP client of each upstream its own budget of calls. */
export function createBudgets(config: Config, { clock, holders }: Pick<Runtime, 'clock' | 'holders'>) {
  const callsPerSecond = config.upstreamCallsPerSecond;
  const burst = BURST_SECONDS * callsPerSecond;
  return (upstream: string, http: HttpClient): HttpClient => {
    const budget = createCallBudget({ clock, callsPerSecond, burst });
    holders.add(`calls to ${upstream} that wait`, () => budget.stats().waiting);
    holders.add(`clients of ${upstream}`, () => budget.stats().clients);
    return guardHttpClient(http, { budget });
  };
}

/** The client of the image hosts and of the origin that replaces them. */
export function createImageClient(config: Config, userAgent: string, clock: Clock): HttpClient {
  const { youtubeImageOrigin: origin, youtubeUserAgent } = config;
  return createHttpClient({
    allowedOrigins: IMAGE_HOSTS.map((host) => `https://${host}`),
    privateOrigins: origin === undefined ? [] : [origin],
    followRedirects: true,
    userAgent: youtubeUserAgent ?? userAgent,
    clock,
  });
}
