import type { SourceStatus } from '../domain/source-status.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';
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
  const versions = () => readStatuses().flatMap(({ clientVersion }) => clientVersion?.version ?? []);
  const quotas = () => readStatuses().flatMap((status) => status.quotas ?? []);
  if (versions().length > 0) {
    addGauge({
      name: 'pennant_youtube_client_version_info',
      help: '1 for the client version in calls to YouTube.',
      label: 'version',
      read: () => Object.fromEntries(versions().map((version) => [version, 1])),
    });
  }
  if (quotas().length === 0) return;
  addGauge({
    name: 'pennant_data_api_quota_spent',
    help: 'Calls to the YouTube Data API today (Pacific time), by allowance.',
    label: 'allowance',
    read: () => Object.fromEntries(quotas().map(({ name, spent }) => [name, spent])),
  });
  addGauge({
    name: 'pennant_data_api_quota_per_day',
    help: 'Calls to the YouTube Data API that are allowed per day, by allowance.',
    label: 'allowance',
    read: () => Object.fromEntries(quotas().map(({ name, perDay }) => [name, perDay])),
  });
}
