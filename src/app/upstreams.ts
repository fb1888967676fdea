import { Counter } from '@prometheus-io/client';
import type { Config } from '../config/settings.ts';
import { GOOD_OUTCOMES, IMAGE_SOURCE } from '../domain/source-status.ts';
import { createDownloader, type Downloader } from '../images/download.ts';
import type { FailureLog } from '../lib/failure-log.ts';
import { isExplainedByBreaker } from '../lib/http/gate.ts';
import { createHttpClient } from '../lib/http/http-client.ts';
import { describeFailure } from '../lib/logger.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { SourceReading } from '../private/state.ts';
import { combineSources, type SourceOutcome } from '../sources/all-sources.ts';
import { createGates } from '../sources/gates.ts';
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
  const { clock, failureLog, metrics } = runtime;
  const sourceMetrics = createSourceMetrics(metrics);
  const http = createHttpClient({ userAgent: `Pennant/${version}`, proxyEnv: config.proxyEnv, clock });
  const gates = createGates({ runtime, http, callsPerSecond: config.upstreamCallsPerSecond });

  const sources =
    options.sources ?? createSources(config, { clock, gatesOf: gates.of, onField: sourceMetrics.countField });
  const allSources = combineSources({
    sources,
    clock,
    onOutcome(outcome) {
      sourceMetrics.countCall(outcome);
      // The line about the breaker says why.
      const hasLine = isExplainedByBreaker(outcome.error);
      if (!hasLine && !GOOD_OUTCOMES.has(outcome.outcome)) reportFailure(failureLog, outcome);
    },
  });

  const downloads = new Counter({
    name: 'pennant_image_host_calls_total',
    help: 'Downloads from image hosts, by outcome.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  const downloader =
    options.downloader ??
    createDownloader({
      gate: gates.of(IMAGE_SOURCE)(IMAGE_SOURCE),
      imageOrigin: config.youtubeOrigin,
      clock,
      onOutcome: (outcome) => downloads.inc({ outcome }),
    });

  /** The state of each source and of the image hosts. */
  const states = (): readonly SourceReading[] =>
    [...sources.map(({ name }) => name), IMAGE_SOURCE].map((name) => ({ name, conditions: gates.conditionsOf(name) }));

  return {
    sources,
    allSources,
    downloader,
    states,
    close: http.close,
  };
}

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
