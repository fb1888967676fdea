import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from '@prometheus-io/client';
import { addCounter, addGauge } from './metrics.ts';

/** How often the delay of the event loop is sampled. */
const SAMPLE_MS = 20;

/**
 * Metrics of the process, read when scraped. Garbage collections are not included, because observing them costs a hot
 * response more than a microsecond.
 */
export function addProcessGauges(metrics: Registry, version: string): void {
  new Gauge({
    name: 'pennant_build_info',
    help: '1, with the version of the program, and the version of Node.',
    labelNames: ['version', 'node'],
    registers: [metrics],
  }).set({ version, node: process.versions.node }, 1);
  const loopDelay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  loopDelay.enable();
  const cpu = 'CPU time of this process, user and system.';
  addCounter(metrics, 'process_cpu_seconds_total', cpu, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const memory = 'Resident memory of this process, encoder processes not included.';
  addGauge(metrics, 'process_resident_memory_bytes', memory, () => process.memoryUsage.rss());
  const startSeconds = Math.round(performance.timeOrigin / 1000);
  const start = 'When this process started, seconds since 1970.';
  addGauge(metrics, 'process_start_time_seconds', start, () => startSeconds);
  new Gauge({
    name: 'pennant_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape.',
    labelNames: ['percentile'],
    registers: [metrics],
    collect() {
      for (const percentile of [50, 99]) this.set({ percentile }, delaySecondsOf(loopDelay.percentile(percentile)));
      loopDelay.reset();
    },
  });
}

/** @param sampleNs what `monitorEventLoopDelay` measures: the time between two samples, 0 if there are none */
function delaySecondsOf(sampleNs: number): number {
  return Math.max(0, sampleNs / 1e9 - SAMPLE_MS / 1000);
}
