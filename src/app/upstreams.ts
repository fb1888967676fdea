import { Counter } from '@prometheus-io/client';
import type { Config } from '../config/settings.ts';
import { isImageUrl } from '../domain/channel.ts';
import { IMAGE_SOURCE } from '../domain/source-status.ts';
import { createDownloader, type Downloader } from '../images/download.ts';
import type { Clock } from '../lib/clock.ts';
import type { FailureLog } from '../lib/failure-log.ts';
import { createCallBudget, guardHttpClient } from '../lib/http/call-budget.ts';
import { createHttpClient, type HttpClient } from '../lib/http/http-client.ts';
import { describeFailure } from '../lib/logger.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { SourceReading } from '../private/state.ts';
import { addBreakerGauges, createBreakers } from '../sources/breakers.ts';
import { createFailover, type SourceOutcome } from '../sources/failover.ts';
import { createSources } from '../sources/registry.ts';
import type { ChannelSource } from '../sources/source.ts';
import { createSourceMetrics } from '../sources/source-metrics.ts';

interface UpstreamsOptions {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly version: string;
  /** Replaces the sources in the settings. */
  readonly sources?: readonly ChannelSource[] | undefined;
  readonly downloader?: Downloader | undefined;
}

/** The sources of channels and images, and their state. */
export function createUpstreams(options: UpstreamsOptions) {
  const { config, runtime, version } = options;
  const userAgent = `Pennant/${version}`;
  const { clock, failureLog, metrics } = runtime;
  const withBudget = createBudgets(config, runtime);
  const sourceMetrics = createSourceMetrics(metrics);
  const breakers = createBreakers(runtime);
  addBreakerGauges(metrics, breakers);

  const sources =
    options.sources ??
    createSources(config, {
      clock,
      userAgent,
      wrapHttp: withBudget,
      breakerOf: breakers.of,
      onField: sourceMetrics.countField,
    });
  // The metrics of every breaker exist from the start.
  for (const source of sources) for (const operation of GUARDED_OPERATIONS) breakers.ofCall(source, operation);

  const failover = createFailover({
    sources,
    breakerOf: breakers.ofCall,
    clock,
    onOutcome(outcome) {
      sourceMetrics.countCall(outcome);
      const breaker = breakers.ofCall({ name: outcome.source }, outcome.operation);
      const isExplained = outcome.outcome !== 'internal' && breaker.state() !== undefined;
      // The line about the breaker says why.
      if (isExplained) failureLog.markExplained();
      else if (!GOOD_OUTCOMES.has(outcome.outcome)) reportFailure(failureLog, outcome);
    },
  });

  const imageHttp = withBudget(IMAGE_SOURCE, createImageClient(config, userAgent, clock));
  const downloads = new Counter({
    name: 'pennant_image_host_calls_total',
    help: 'Downloads from image hosts, by outcome.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const downloader =
    options.downloader ??
    createDownloader({
      http: imageHttp,
      imageOrigin: config.youtubeOrigin,
      clock,
      breaker: breakers.of(IMAGE_SOURCE),
      onOutcome: (outcome) => downloads.inc({ outcome }),
    });

  /** The state of each source and of the image hosts. */
  function states(): readonly SourceReading[] {
    const readings = sources.map(({ name, clientVersion }) => ({
      ...{ name, ...breakers.stateOf(name) },
      clientVersion: clientVersion?.(),
    }));
    return [...readings, { name: IMAGE_SOURCE, ...breakers.stateOf(IMAGE_SOURCE) }];
  }

  return {
    sources,
    failover,
    downloader,
    states,
    async close(): Promise<void> {
      await Promise.all(sources.map((source) => source.close()));
      await imageHttp.close();
    },
  };
}

const GUARDED_OPERATIONS = ['getChannel', 'resolve', 'search'] as const;
const GOOD_OUTCOMES: ReadonlySet<SourceOutcome['outcome']> = new Set(['found', 'channel_not_found', 'inconclusive']);

function reportFailure(failureLog: FailureLog, { source, operation, outcome, durationMs, error }: SourceOutcome): void {
  const reason = describeFailure(error);
  const call = { source, operation, outcome, durationMs: Math.round(durationMs) };
  const isBug = outcome === 'internal';
  failureLog.report({
    level: isBug ? 'error' : 'warn',
    key: `source ${source} ${operation} ${outcome} ${isBug ? reason : ''}`,
    message: 'source failed',
    fields: isBug ? { ...call, err: error } : { ...call, reason },
  });
}

/** Gives the HTTP client of each upstream its own budget of calls. */
function createBudgets(config: Config, { clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>) {
  return (upstream: string, http: HttpClient): HttpClient => {
    const budget = createCallBudget({ clock, callsPerSecond: config.upstreamCallsPerSecond });
    addBoundGauges(
      metrics,
      `pennant_calls_to_${upstream.replaceAll(/\W/g, '_')}`,
      `calls to ${upstream} that wait`,
      () => budget.waiting(),
    );
    return guardHttpClient(http, budget);
  };
}

/** The client of the image hosts and of the origin that replaces them. */
function createImageClient(config: Config, userAgent: string, clock: Clock): HttpClient {
  const { youtubeOrigin: origin } = config;
  return createHttpClient({
    isAllowed: (url) => isImageUrl(url) || url.origin === origin,
    followRedirects: true,
    userAgent,
    clock,
  });
}
