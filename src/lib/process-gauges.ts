import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics/metrics.ts';

/** How often the delay of the event loop is sampled. */
const SAMPLE_MS = 20;

/**
 * Metrics of the process, read when scraped. Garbage collections are not included, because observing them costs a hot
 * response more than a microsecond.
 */
export function addProcessGauges({ addGauge, addCounter, addSummary }: Metrics): void {
  const loopDelay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  loopDelay.enable();
  addCounter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of this process, user and system.',
    read() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
  addGauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of this process, encoder processes not included.',
    read: () => process.memoryUsage.rss(),
  });
  addGauge({
    name: 'process_start_time_seconds',
    help: 'When this process started, seconds since 1970.',
    read: () => Math.round(performance.timeOrigin / 1000),
  });
  addGauge({
    name: 'process_open_fds',
    help: 'Open file descriptors; 0 if the system does not report them.',
    read: countOpenFiles,
  });
  addSummary({
    name: 'pennant_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape.',
    label: 'quantile',
    read() {
      const delays = [0.5, 0.99].map(
        (quantile) => [quantile, delaySecondsOf(loopDelay.percentile(quantile * 100))] as const,
      );
      loopDelay.reset();
      return Object.fromEntries(delays);
    },
  });
}

/** @param version with the digest of the build */
export function addBuildInfo({ addGauge }: Pick<Metrics, 'addGauge'>, version: string): void {
  addGauge({
    name: 'pennant_build_info',
    help: '1, with the version and build of the program, and the version of Node.',
    read: () => [{ labels: { version, node: process.versions.node }, value: 1 }],
  });
}

function countOpenFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // Not Linux.
    return 0;
  }
}

/** @param sampleNs what `monitorEventLoopDelay` measures: the time between two samples, 0 if there are none */
export function delaySecondsOf(sampleNs: number): number {
  return Math.max(0, sampleNs / 1e9 - SAMPLE_MS / 1000);
}
