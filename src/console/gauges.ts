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
