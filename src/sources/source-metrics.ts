import type { SourceStatus } from '../domain/source-status.ts';
import type { Metrics, ScrapedMetric } from '../lib/metrics/metrics.ts';
import type { SourceOutcome } from './failover.ts';

/** Counts the calls of all sources, and the fields that were found in the responses of their upstreams. */
export function createSourceMetrics(metrics: Pick<Metrics, 'createCounter' | 'createHistogram'>) {
  const calls = metrics.createCounter('pennant_source_calls_total', 'Calls made to a source of channels, by outcome.', [
    'source',
    'operation',
    'outcome',
  ]);
  const seconds = metrics.createHistogram('pennant_source_call_duration_seconds', 'Time of one call of a source.', [
    'source',
    'operation',
  ]);
  const fields = metrics.createCounter(
    'pennant_source_fields_total',
    'Fields read from upstream responses, by the path that contained them ("none": no path did).',
    ['source', 'field', 'path'],
  );

  return {
    countCall({ source, operation, outcome, durationMs, wasMade }: SourceOutcome): void {
      if (!wasMade) return;
      calls.inc({ source, operation, outcome });
      seconds.observe({ source, operation }, durationMs / 1000);
    },
    /** @param path `undefined`: the field was missing */
    countField(source: string, field: string, path: string | undefined): void {
      // The series begins with the first reading of the field, because an alert uses its increase.
      if (path !== undefined) fields.inc({ source, field, path: 'none' }, 0);
      fields.inc({ source, field, path: path ?? 'none' });
    },
  };
}

/** @param readStatuses returns the status of every source that has one, always with the same members */
export function addSourceGauges(
  { addGauge }: Pick<Metrics, 'addGauge'>,
  readStatuses: () => readonly SourceStatus[],
): void {
  /** Adds the gauge if the status of a source has the member. */
  function addIfPresent<Member extends keyof SourceStatus>(
    member: Member,
    { read, ...gauge }: StatusGauge<Member>,
  ): void {
    const find = () => readStatuses().find((status) => status[member] !== undefined)?.[member];
    if (find() === undefined) return;
    addGauge({ ...gauge, read: () => read(find() as Required<SourceStatus>[Member]) });
  }

  addIfPresent('clientVersion', {
    name: 'pennant_youtube_client_version_info',
    help: '1 for the client version in calls to YouTube.',
    label: 'version',
    read: ({ version }) => ({ [version]: 1 }),
  });
  addIfPresent('quotas', {
    name: 'pennant_data_api_quota_spent',
    help: 'Calls to the YouTube Data API today (Pacific time), by allowance.',
    label: 'allowance',
    read: (quotas) => Object.fromEntries(quotas.map(({ name, spent }) => [name, spent])),
  });
  addIfPresent('quotas', {
    name: 'pennant_data_api_quota_per_day',
    help: 'Calls to the YouTube Data API that are allowed per day, by allowance.',
    label: 'allowance',
    read: (quotas) => Object.fromEntries(quotas.map(({ name, perDay }) => [name, perDay])),
  });
}

/** A gauge that is read from a member of a status. */
interface StatusGauge<Member extends keyof SourceStatus> extends Omit<ScrapedMetric, 'read'> {
  readonly read: (value: Required<SourceStatus>[Member]) => ReturnType<ScrapedMetric['read']>;
}
