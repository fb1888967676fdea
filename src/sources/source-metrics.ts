import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client';
import type { SourceStatus } from '../domain/source-status.ts';
import { SECONDS_BUCKETS } from '../lib/metrics.ts';
import type { SourceOutcome } from './failover.ts';
import type { FieldResult } from './source.ts';

/** Counts the calls of all sources, and the fields that were found in the responses of their upstreams. */
export function createSourceMetrics(metrics: Registry) {
  const calls = new Counter({
    name: 'pennant_source_calls_total',
    help: 'Calls made to a source of channels, by outcome.',
    labelNames: ['source', 'operation', 'outcome'],
    registers: [metrics],
  });
  const seconds = new Histogram({
    name: 'pennant_source_call_duration_seconds',
    help: 'Time of one call of a source.',
    labelNames: ['source', 'operation'],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  const fields = new Counter({
    name: 'pennant_source_fields_total',
    help: 'Fields read from upstream responses, by the path that contained them ("none": the field was not found, or is rounded).',
    labelNames: ['source', 'field', 'path'],
    registers: [metrics],
  });

  return {
    countCall({ source, operation, outcome, durationMs, wasMade }: SourceOutcome): void {
      if (!wasMade) return;
      calls.inc({ source, operation, outcome });
      seconds.observe({ source, operation }, durationMs / 1000);
    },
    countField(source: string, field: string, result: FieldResult): void {
      const path = result.state === 'found' ? result.path : 'none';
      // The series begins with the first reading of the field, because an alert uses its increase.
      fields.inc({ source, field, path: 'none' }, 0);
      fields.inc({ source, field, path });
    },
  };
}

/** @param readStatuses returns the status of every source that has one, always with the same members */
export function addSourceGauges(metrics: Registry, readStatuses: () => readonly SourceStatus[]): void {
  const versions = () => readStatuses().flatMap(({ clientVersion }) => clientVersion?.version ?? []);
  const quotas = () => readStatuses().flatMap((status) => status.quotas ?? []);
  if (versions().length > 0) {
    new Gauge({
      name: 'pennant_youtube_client_version_info',
      help: '1 for the client version in calls to YouTube.',
      labelNames: ['version'],
      registers: [metrics],
      collect() {
        this.reset();
        for (const version of versions()) this.set({ version }, 1);
      },
    });
  }
  if (quotas().length === 0) return;
  new Gauge({
    name: 'pennant_data_api_quota_spent',
    help: 'Calls to the YouTube Data API today (Pacific time), by allowance.',
    labelNames: ['allowance'],
    registers: [metrics],
    collect() {
      for (const { name: allowance, spent } of quotas()) this.set({ allowance }, spent);
    },
  });
  new Gauge({
    name: 'pennant_data_api_quota_per_day',
    help: 'Calls to the YouTube Data API that are allowed per day, by allowance.',
    labelNames: ['allowance'],
    registers: [metrics],
    collect() {
      for (const { name: allowance, perDay } of quotas()) this.set({ allowance }, perDay);
    },
  });
}
