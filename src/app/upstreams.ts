import { join } from 'node:path';
import type { Config } from '../config/settings.ts';
import type { SourceStatus } from '../domain/source-status.ts';
import { createDownloader, type Downloader, IMAGE_HOSTS } from '../images/download.ts';
import type { Clock } from '../lib/clock.ts';
import type { Holders } from '../lib/holders.ts';
import { createCallBudget } from '../lib/http/call-budget.ts';
import { type BreakerState, type CircuitBreaker, createCircuitBreaker } from '../lib/http/circuit-breaker.ts';
import { createHttpClient } from '../lib/http/client.ts';
import { guardHttpClient } from '../lib/http/guarded-client.ts';
import { describeFailure, type Logger } from '../lib/logger.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import { createRedisLease } from '../lib/redis/lease.ts';
import type { TroubleLog } from '../lib/trouble-log.ts';
import { createFailover, type Failover } from '../sources/failover.ts';
import { createSources } from '../sources/registry.ts';
import { type ChannelSource, type KeptText, SOLO_LEASE } from '../sources/source.ts';
import { type KeptName, keptKey } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import type { PartStates } from './component-health.ts';

export interface UpstreamsOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly troubles: Pick<TroubleLog, 'report'>;
  readonly metrics: Metrics;
  readonly states: PartStates;
  readonly holders: Holders;
  readonly userAgent: string;
  /** In place of those that the settings name. */
  readonly sources?: readonly ChannelSource[] | undefined;
  readonly downloader?: Downloader | undefined;
  readonly store: Store;
  /** Absent where the instance stands alone. */
  readonly redis: RedisConnection | undefined;
  /** Told when failures so far say nothing of what the sources would answer now. */
  readonly onRecovery: () => void;
}

export interface UpstreamState {
  readonly name: string;
  /** `null`: always asked. */
  readonly breaker: BreakerState | null;
  readonly status?: SourceStatus;
}

export interface BreakerReading {
  readonly state: BreakerState;
  /** How often it opened since the start. */
  readonly opened: number;
}

/** Where channels and their pictures come from, each left alone for a while when it fails. */
export interface Upstreams {
  readonly failover: Failover;
  readonly downloader: Downloader;
  readonly sourceStates: () => readonly UpstreamState[];
  readonly imageHostState: () => BreakerState;
  /** By upstream, for metrics. */
  readonly breakers: () => ReadonlyMap<string, BreakerReading>;
  /** What the sources do beside requests. */
  readonly tasks: readonly (() => Promise<void>)[];
  close(): Promise<void>;
}

export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const { config, clock, logger, troubles, metrics, states, holders, userAgent } = options;
  const sources =
    options.sources ??
    createSources(config, {
      clock,
      userAgent,
      holders,
      onStateChange: states.report,
      keptText: (name) => createKeptText(options.store, clock, name),
      lease: options.redis === undefined ? SOLO_LEASE : createRedisLease({ connection: options.redis }),
      onClientVersion(change) {
        logger.info(change, 'YouTube client version changed');
        breakers.get('youtube')?.forgetFailures();
        options.onRecovery();
      },
      onField(source, field, path) {
        // Its series begins with the field's first reading: an alert looks at its increase.
        if (path !== undefined) metrics.sourceFields.inc({ source, field, path: 'none' }, 0);
        metrics.sourceFields.inc({ source, field, path: path ?? 'none' });
      },
    });
  for (const source of sources) {
    for (const [name, stats] of Object.entries(source.holders ?? {})) holders.add(name, stats);
  }
  function createBreaker(upstream: string): CircuitBreaker {
    const breaker = createCircuitBreaker({ clock });
    holders.add(`calls to judge ${upstream} by`, () => breaker.stats().calls);
    holders.add(`failed requests to ${upstream}`, () => breaker.stats().failedKeys);
    return breaker;
  }

  const breakers = new Map(sources.filter(({ isLive }) => isLive).map(({ name }) => [name, createBreaker(name)]));
  const failover = createFailover({
    sources,
    breakers,
    clock,
    onOutcome({ source, operation, outcome, durationMs, error }) {
      metrics.sourceCalls.inc({ source, operation, outcome });
      metrics.sourceSeconds.observe({ source, operation }, durationMs / 1000);
      if (outcome !== 'found' && outcome !== 'channel_not_found') {
        const reason = describeFailure(error);
        const isBug = outcome === 'internal';
        troubles.report({
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

  const imageOrigin = config.youtubeImageOrigin;
  const imageHttp = createHttpClient({
    allowedOrigins: IMAGE_HOSTS.map((host) => `https://${host}`),
    privateOrigins: imageOrigin === undefined ? [] : [imageOrigin],
    followRedirects: true,
    userAgent: config.youtubeUserAgent ?? userAgent,
    clock,
  });
  const imageBreaker = createBreaker('image hosts');
  const imageBudget = createCallBudget({
    clock,
    callsPerSecond: config.upstreamCallsPerSecond,
    burst: config.upstreamCallBurst,
  });
  holders.add('budget of image hosts', () => imageBudget.stats().clients);
  const downloader =
    options.downloader ??
    createDownloader({
      http: guardHttpClient(imageHttp, { budget: imageBudget }),
      originOverrides: new Map(imageOrigin === undefined ? [] : IMAGE_HOSTS.map((host) => [host, imageOrigin])),
      clock,
      breaker: imageBreaker,
      catalogImagesDir: join(config.dataDir, 'catalog-images'),
    });

  return {
    failover,
    downloader,
    sourceStates: () =>
      sources.map((source) => {
        const { name } = source;
        const status = source.status?.();
        return { name, breaker: breakers.get(name)?.state() ?? null, ...(status !== undefined && { status }) };
      }),
    tasks: sources.map((source) => async () => source.runDueWork?.()),
    imageHostState: () => imageBreaker.state(),
    breakers() {
      const all = [...breakers, ['pictures', imageBreaker] as const];
      return new Map(all.map(([name, breaker]) => [name, { state: breaker.state(), opened: breaker.stats().opened }]));
    },
    async close() {
      await Promise.all(sources.map((source) => source.close()));
      await imageHttp.close();
    },
  };
}

const FOR_GOOD_MS = 100 * 365 * 86_400_000;

/** A text in the store: its failures are the store's to report. */
function createKeptText(store: Store, clock: Clock, name: KeptName): KeptText {
  return {
    async read() {
      return (await store.get(keptKey(name)))?.value;
    },
    write: (text) => store.set(keptKey(name), { value: text, storedAtMs: clock.now() }, FOR_GOOD_MS),
  };
}
