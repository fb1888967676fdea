import { Gauge, type Registry } from '@prometheus-io/client';

/** The current and maximum content of a cache, a map or a queue. Members that do not apply are absent. */
export interface HolderStats {
  readonly entries?: number;
  readonly maxEntries?: number;
  /** The size of everything: keys, values and the overhead of each entry. */
  readonly bytes?: number;
  readonly maxBytes?: number;
}

export interface HolderReading extends HolderStats {
  readonly name: string;
}

/** Every cache, map and queue that grows with requests. Metrics and console read them here. */
export interface Holders {
  /** @throws Error if the name is already in use */
  add(name: string, stats: () => HolderStats): void;
  /** In the order in which they were added. */
  read(): readonly HolderReading[];
}

/** Units come last in a name: prometheus.io/docs/practices/naming (seen 2026-11). */
const GAUGES = [
  ['entries', 'pennant_held_entries', 'Entries of a cache, map or queue.'],
  ['maxEntries', 'pennant_held_max_entries', 'Entries that it may hold.'],
  ['bytes', 'pennant_held_bytes', 'Bytes that a cache, map or queue holds, keys included.'],
  ['maxBytes', 'pennant_held_max_bytes', 'Bytes that it may hold.'],
] as const;

export function createHolders(): Holders {
  const readers = new Map<string, () => HolderStats>();
  return {
    add(name, stats) {
      if (readers.has(name)) throw new Error(`A holder named "${name}" already exists.`);
      readers.set(name, stats);
    },
    read: () =>
      [...readers].map(([name, readStats]) => {
        const stats = readStats();
        const known = GAUGES.filter(([figure]) => stats[figure] !== undefined);
        return { name, ...Object.fromEntries(known.map(([figure]) => [figure, stats[figure]])) };
      }),
  };
}

/** Metrics of the current and maximum content of everything that grows with requests. */
export function addHolderGauges(metrics: Registry, holders: Holders): void {
  for (const [figure, name, help] of GAUGES) {
    new Gauge({
      name,
      help,
      labelNames: ['holder'],
      registers: [metrics],
      collect() {
        for (const { name: holder, [figure]: value } of holders.read())
          if (value !== undefined) this.set({ holder }, value);
      },
    });
  }
}
