import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type AnswerMetrics, createAnswerMetrics } from './http-metrics.ts';

/** A metric that is read when it is scraped; one value for each label. */
export interface ScrapedMetric {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  read(): number | Record<string, number>;
}

/** Everything that is counted while it happens; sizes and states are read when scraped. */
export interface Metrics {
  readonly registry: Registry;
  readonly answers: AnswerMetrics;
  readonly sourceCalls: Counter<'source' | 'operation' | 'outcome'>;
  readonly sourceSeconds: Histogram<'source' | 'operation'>;
  readonly sourceFields: Counter<'source' | 'field' | 'path'>;
  readonly encoderEnds: Counter<'reason'>;
  readonly refusedValues: Counter<'kind'>;
  readonly encoderSeconds: Histogram<'task'>;
  readonly encoderWaitSeconds: Histogram<'task'>;
  addGauge(gauge: ScrapedMetric): void;
  /** For what only grows since start. */
  addCounter(counter: ScrapedMetric): void;
}

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 12];

/** Names and units by prometheus.io/docs/practices/naming (seen 2026-11); every label has a bounded set of values. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    answers: createAnswerMetrics(registry),
    sourceCalls: new Counter({
      name: 'pennant_source_calls_total',
      help: 'Calls of a source of channels, by what came of them.',
      labelNames: ['source', 'operation', 'outcome'],
      registers,
    }),
    sourceSeconds: new Histogram({
      name: 'pennant_source_call_duration_seconds',
      help: 'Time of one call of a source.',
      labelNames: ['source', 'operation'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    sourceFields: new Counter({
      name: 'pennant_source_fields_total',
      help: 'Fields read from upstream answers, by the path that carried them ("none": no path did).',
      labelNames: ['source', 'field', 'path'],
      registers,
    }),
    encoderEnds: new Counter({
      name: 'pennant_encoder_processes_ended_total',
      help: 'Encoder processes that ended, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    refusedValues: new Counter({
      name: 'pennant_stored_values_refused_total',
      help: 'Stored values that were not of our making or damaged, and counted as absent.',
      labelNames: ['kind'],
      registers,
    }),
    encoderSeconds: new Histogram({
      name: 'pennant_encoder_task_duration_seconds',
      help: 'Time that an encoder process took for one task.',
      labelNames: ['task'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    encoderWaitSeconds: new Histogram({
      name: 'pennant_encoder_wait_duration_seconds',
      help: 'Time that a task waited for an encoder process.',
      labelNames: ['task'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    addGauge({ name, help, label, read }) {
      new Gauge({
        name,
        help,
        labelNames: labelNames(label),
        registers,
        collect() {
          // What is not read any more (a part that works again) must not stay at its last value.
          this.reset();
          for (const [labels, value] of readings(label, read())) this.set(labels, value);
        },
      });
    },
    addCounter({ name, help, label, read }) {
      new Counter({
        name,
        help,
        labelNames: labelNames(label),
        registers,
        collect() {
          this.reset();
          for (const [labels, value] of readings(label, read())) this.inc(labels, value);
        },
      });
    },
  };
}

function labelNames(label: string | undefined): string[] {
  return label === undefined ? [] : [label];
}

function readings(label: string | undefined, read: ReturnType<ScrapedMetric['read']>) {
  if (typeof read === 'number') return [[{}, read] as const];
  return Object.entries(read).map(([key, value]) => [{ [label ?? 'kind']: key }, value] as const);
}
