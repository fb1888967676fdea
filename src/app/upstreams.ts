import { join } from 'node:path';
import type { Config } from '../config/settings.ts';
import type { SourceReading } from '../console/source-status.ts';
import { createDownloader, type Downloader, IMAGE_HOSTS } from '../images/download.ts';
import type { Clock } from '../lib/clock.ts';
import { createCallBudget, guardHttpClient } from '../lib/http/call-budget.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../lib/http/circuit-breaker.ts';
import { createHttpClient, type HttpClient } from '../lib/http/client.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import { createRedisLease } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createFailover } from '../sources/failover.ts';
import { createReachability } from '../sources/reachability.ts';
import { createSources } from '../sources/registry.ts';
import { type ChannelSource, SOLO_LEASE } from '../sources/source.ts';
import { addSourceGauges, createSourceMetrics } from '../sources/source-metrics.ts';
import { keptKey } from '../store/keys.ts';
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

/** The sources of channels and images. Each upstream is paused after failures. */
export function createUpstreams(options: UpstreamsOptions) {
  const { config, runtime, stores, version } = options;
  const userAgent = `Pennant/${version}`;
  const { clock, logger, failureLog, metrics, health, holders } = runtime;
  const withBudget = createBudgets(config, runtime);
  const sourceMetrics = createSourceMetrics(metrics);
  const sources =
    options.sources ??
    createSources(config, {
      clock,
      userAgent,
      wrapHttp: withBudget,
      onStateChange: health.report,
      // The store reports its failures.
      keptCanary: {
        read: async () => (await stores.store.get(keptKey('youtube-canary')))?.value,
        write: (value) => stores.store.set(keptKey('youtube-canary'), { value, storedAtMs: clock.now() }, FOR_GOOD_MS),
      },
      lease: stores.redis === undefined ? SOLO_LEASE : createRedisLease({ connection: stores.redis }),
      onClientVersion(from, to) {
        logger.info({ from, to }, 'YouTube client version changed');
        breakers.get('youtube')?.forgetFailures();
        // Earlier failures say nothing about requests with the new version.
        for (const cache of Object.values(stores.caches)) cache.forgetFailures();
      },
      onField: sourceMetrics.countField,
    });
  for (const source of sources) {
    for (const [name, stats] of Object.entries(source.holders ?? {})) holders.add(name, stats);
  }
  function createBreaker(upstream: string): CircuitBreaker {
    const breaker = createCircuitBreaker({ clock });
    holders.add(`recent calls to ${upstream}`, () => breaker.stats().calls);
    holders.add(`failed requests to ${upstream}`, () => breaker.stats().failedKeys);
    return breaker;
  }

  const breakers = new Map(sources.filter(({ isLive }) => isLive).map(({ name }) => [name, createBreaker(name)]));
  const reachability = createReachability(sources, logger);
  const failover = createFailover({
    sources,
    breakers,
    clock,
    onOutcome({ source, operation, outcome, durationMs, error }) {
      sourceMetrics.countCall({ source, operation, outcome, durationMs });
      if (reachability.note({ source, outcome, error })) {
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

  const imageHttp = withBudget('image hosts', createImageClient(config, userAgent, clock));
  const imageBreaker = createBreaker('image hosts');
  const downloads = metrics.createCounter('pennant_image_host_calls_total', 'Downloads from image hosts, by outcome.', [
    'outcome',
  ]);
  const downloader =
    options.downloader ??
    createDownloader({
      http: imageHttp,
      imageOrigin: config.youtubeImageOrigin,
      clock,
      breaker: imageBreaker,
      catalogImagesDir: join(config.dataDir, 'catalog-images'),
      onOutcome: (outcome) => downloads.inc({ outcome }),
    });

  /** The breakers of each source and of the image hosts. */
  function states(): readonly SourceReading[] {
    const ofSources = sources.map((source): SourceReading => {
      return { name: source.name, breaker: breakers.get(source.name)?.state() ?? null, status: source.status?.() };
    });
    return [...ofSources, { name: 'image hosts', breaker: imageBreaker.state() }];
  }

  addBreakerMetrics(metrics, new Map([...breakers, ['images', imageBreaker]]));
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

function addBreakerMetrics({ addGauge, addCounter }: Metrics, breakers: ReadonlyMap<string, CircuitBreaker>): void {
  function each(figure: (breaker: CircuitBreaker) => number): Record<string, number> {
    return Object.fromEntries(breakers.entries().map(([upstream, breaker]) => [upstream, figure(breaker)]));
  }

  addGauge({
    name: 'pennant_breaker_open',
    help: '1 while an upstream is paused after failures.',
    label: 'upstream',
    read: () => each((breaker) => (breaker.state() === 'closed' ? 0 : 1)),
  });
  addCounter({
    name: 'pennant_breaker_openings_total',
    help: 'How often an upstream was paused after failures, anew after each failed probe.',
    label: 'upstream',
    read: () => each((breaker) => breaker.stats().opened),
  });
}
