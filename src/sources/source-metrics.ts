import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import { NotSentError } from '../lib/http/call-budget.ts';
import { SECONDS_BUCKETS } from '../lib/metrics.ts';
import type { SourceOutcome } from './all-sources.ts';
import type { FieldResult } from './source.ts';

const FIELD_STATES: readonly FieldResult['state'][] = ['found', 'unreadable', 'lost', 'absent'];

/** Counts the lookups at all sources, and the fields in YouTube’s responses. */
export function createSourceMetrics(metrics: Registry) {
  const calls = new Counter({
    name: 'pennant_source_calls_total',
    help: 'Lookups at a source of channels, by outcome. A lookup may take several calls.',
    labelNames: ['source', 'operation', 'outcome'],
    registers: [metrics],
  });
  const seconds = new Histogram({
    name: 'pennant_source_call_duration_seconds',
    help: 'Time of one lookup at a source.',
    labelNames: ['source', 'operation'],
    buckets: SECONDS_BUCKETS,
    registers: [metrics],
  });
  const fields = new Counter({
    name: 'pennant_source_fields_total',
    help: 'Fields read from YouTube’s responses, by state: found, unreadable (in an unknown form), lost (its place is not in the responses; a rounded count may stand in) or absent.',
    labelNames: ['source', 'field', 'state'],
    registers: [metrics],
  });

  return {
    countCall({ source, operation, outcome, durationMs, error }: SourceOutcome): void {
      // No call was made.
      if (error instanceof NotSentError) return;
      calls.inc({ source, operation, outcome });
      seconds.observe({ source, operation }, durationMs / 1000);
    },
    countField(field: string, { state }: FieldResult): void {
      // The series begin with the first reading of the field, because an alert uses their increase.
      for (const each of FIELD_STATES) fields.inc({ source: 'youtube', field, state: each }, Number(each === state));
    },
  };
}
