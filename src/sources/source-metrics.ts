import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import { LocalLimitError } from '../lib/http/call-budget.ts';
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
    countCall({ source, operation, outcome, durationMs, error }: SourceOutcome): void {
      // The call was not made.
      if (error instanceof LocalLimitError) return;
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
