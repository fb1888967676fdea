import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { HolderReading, Holders } from '../lib/holders.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';

/** What is read when the metrics are scraped. */
export interface GaugeReaders {
  readonly encoder: () => { readonly queued: number; readonly running: number; readonly processes: number };
  readonly pictures: () => { readonly plainBytes: number; readonly customBytes: number; readonly memoryBytes: number };
  readonly memoryEntries: () => Record<string, number>;
  readonly limiter: () => { readonly clients: number; readonly evicted: number };
  readonly refusedNetworks: () => number;
  readonly breakers: () => ReadonlyMap<string, { readonly state: string; readonly opened: number }>;
  readonly degradedParts: () => readonly string[];
  /** Absent where the instance stands alone. */
  readonly redis?: () => RedisReading;
}

interface RedisReading {
  readonly isUsable: boolean;
  readonly timeouts: number;
  readonly outages: number;
  readonly decidedAlone: number;
}

/** Sizes and states of the service's parts. */
export function addGauges({ addGauge, addCounter }: Metrics, readers: GaugeReaders): void {
  function eachBreaker(figure: (breaker: { state: string; opened: number }) => number): Record<string, number> {
    return Object.fromEntries([...readers.breakers()].map(([upstream, breaker]) => [upstream, figure(breaker)]));
  }

  addGauge({
    name: 'pennant_encoder_jobs',
    help: 'Pictures being made or waiting for an encoder.',
    label: 'state',
    read() {
      const { queued, running } = readers.encoder();
      return { queued, running };
    },
  });
  addGauge({
    name: 'pennant_encoder_processes',
    help: 'Encoder processes.',
    read: () => readers.encoder().processes,
  });
  addGauge({
    name: 'pennant_picture_store_bytes',
    help: 'Bytes of pictures kept.',
    label: 'kind',
    read() {
      const { plainBytes, customBytes, memoryBytes } = readers.pictures();
      return { plain: plainBytes, custom: customBytes, memory: memoryBytes };
    },
  });
  addGauge({
    name: 'pennant_memory_entries',
    help: 'Values in the memory tier.',
    label: 'kind',
    read: readers.memoryEntries,
  });
  addGauge({
    name: 'pennant_limiter_clients',
    help: 'Clients that the rate limiter remembers.',
    read: () => readers.limiter().clients,
  });
  addCounter({
    name: 'pennant_limiter_evicted_clients_total',
    help: 'Clients that the rate limiter forgot because it was full.',
    read: () => readers.limiter().evicted,
  });
  addGauge({
    name: 'pennant_refused_networks',
    help: 'Networks of clients that the rate limit refused in the last minutes.',
    read: () => readers.refusedNetworks(),
  });
  addGauge({
    name: 'pennant_breaker_open',
    help: '1 while an upstream is paused after failures.',
    label: 'upstream',
    read: () => eachBreaker(({ state }) => (state === 'closed' ? 0 : 1)),
  });
  addCounter({
    name: 'pennant_breaker_openings_total',
    help: 'How often an upstream was paused after failures, anew after each failed probe.',
    label: 'upstream',
    read: () => eachBreaker(({ opened }) => opened),
  });
  addGauge({
    name: 'pennant_part_degraded',
    help: '1 for a part that cannot be used at the moment.',
    label: 'part',
    read: () => Object.fromEntries(readers.degradedParts().map((part) => [part, 1])),
  });
  if (readers.redis !== undefined) addRedisGauges({ addGauge, addCounter }, readers.redis);
}

function addRedisGauges(
  { addGauge, addCounter }: Pick<Metrics, 'addGauge' | 'addCounter'>,
  read: () => RedisReading,
): void {
  addGauge({
    name: 'pennant_redis_usable',
    help: '1 while the shared Redis is used, 0 while this instance works alone.',
    read: () => (read().isUsable ? 1 : 0),
  });
  addCounter({
    name: 'pennant_redis_trouble_total',
    help: 'Commands without an answer in time, and how often Redis was given up.',
    label: 'kind',
    read() {
      const { timeouts, outages } = read();
      return { timeout: timeouts, outage: outages };
    },
  });
  addCounter({
    name: 'pennant_limiter_decided_alone_total',
    help: 'Requests that this instance has admitted or refused without the shared Redis.',
    read: () => read().decidedAlone,
  });
}

type Figure = Exclude<keyof HolderReading, 'name'>;

/** Units come last in a name: prometheus.io/docs/practices/naming (seen 2026-11). */
const GAUGES: Readonly<Record<Figure, { readonly name: string; readonly help: string }>> = {
  entries: { name: 'pennant_held_entries', help: 'Entries of a cache, map or queue.' },
  maxEntries: { name: 'pennant_held_max_entries', help: 'Entries that it may hold.' },
  bytes: { name: 'pennant_held_bytes', help: 'Bytes that a cache, map or queue holds, keys included.' },
  maxBytes: { name: 'pennant_held_max_bytes', help: 'Bytes that it may hold.' },
};

/** How much everything that grows with requests holds, and may hold. */
export function addHolderGauges({ addGauge }: Pick<Metrics, 'addGauge'>, holders: Holders): void {
  for (const [figure, { name, help }] of Object.entries(GAUGES)) {
    addGauge({ name, help, label: 'holder', read: () => readingsOf(holders.read(), figure as Figure) });
  }
}

function readingsOf(holders: readonly HolderReading[], figure: Figure): Record<string, number> {
  return Object.fromEntries(
    holders.flatMap((holder) => {
      const value = holder[figure];
      return value === undefined ? [] : [[holder.name, value]];
    }),
  );
}

/**
 * The process itself, read when scraped. Garbage collections are not among them: to watch them costs a hot response more
 * than a microsecond.
 */
export function addProcessGauges({ add, addGauge, addCounter }: Metrics): void {
  const loopDelay = monitorEventLoopDelay({ resolution: 20 });
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
    help: 'Open file descriptors; 0 where the system does not tell.',
    read: countOpenFiles,
  });
  add({
    name: 'pennant_event_loop_delay_seconds',
    help: 'Delay of the event loop since the last scrape.',
    type: 'summary',
    samples() {
      const samples = [0.5, 0.99].map((quantile) => {
        return { labels: { quantile }, value: loopDelay.percentile(quantile * 100) / 1e9 };
      });
      loopDelay.reset();
      return samples;
    },
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
