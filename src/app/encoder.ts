import { Counter, Gauge, Histogram } from '@prometheus-io/client';
import type { Config } from '../config/settings.ts';
import { createEncoder, type Encoder, QUEUE_LENGTH } from '../images/encoder/encoder.ts';
import { END_REASONS } from '../images/encoder/slot.ts';
import { addBoundGauges, addGauge, SECONDS_BUCKETS } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';

/** The encoder as configured, or the given one, with its log, metrics and health. */
export function openEncoder({ encoders }: Config, runtime: Runtime, replacement?: Encoder): Encoder {
  const { clock, metrics, health, logger } = runtime;
  const ends = new Counter({
    name: 'pennant_encoder_processes_ended_total',
    help: 'Encoder processes that ended, by reason.',
    labelNames: ['reason'],
    registers: [metrics],
  });
  const addHistogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ['task'], buckets: SECONDS_BUCKETS, registers: [metrics] });
  const taskSeconds = addHistogram(
    'pennant_encoder_task_duration_seconds',
    'Time that an encoder process took for one task.',
  );
  const waitSeconds = addHistogram(
    'pennant_encoder_wait_duration_seconds',
    'Time that a task waited for an encoder process.',
  );
  // Alerts use the increase of these counters, so each series starts at 0.
  for (const reason of END_REASONS) ends.inc({ reason }, 0);
  const encoder =
    replacement ??
    createEncoder({
      clock,
      ...(encoders > 0 && { processes: encoders }),
      onEvent(event) {
        if (event.kind === 'ended') ends.inc({ reason: event.reason });
        if (event.kind === 'ready') health.report('encoder', null);
        if (event.kind === 'ended' && event.reason === 'unusable') health.report('encoder', event.detail);
        logger.debug(event, 'encoder process');
      },
      onFinished({ task, waitedMs, tookMs }) {
        waitSeconds.observe({ task }, waitedMs / 1000);
        taskSeconds.observe({ task }, tookMs / 1000);
      },
    });
  const queueOf = (entries: number) => ({ entries, maxEntries: QUEUE_LENGTH });
  addBoundGauges(metrics, 'pennant_encoder_queue', 'encoder queue', () => queueOf(encoder.stats().queued));
  new Gauge({
    name: 'pennant_encoder_jobs',
    help: 'Tasks of encoders by state: a client waits for an encoder (queued), or an encoder works (running).',
    labelNames: ['state'],
    registers: [metrics],
    collect() {
      const { queued, running } = encoder.stats();
      this.set({ state: 'queued' }, queued);
      this.set({ state: 'running' }, running);
    },
  });
  addGauge(metrics, 'pennant_encoder_processes', 'Encoder processes.', () => encoder.stats().processes);
  return encoder;
}
