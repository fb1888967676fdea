import type { Metrics } from './metrics/metrics.ts';

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

export function createHolders(): Holders {
  const readers = new Map<string, () => HolderStats>();
  return {
    add(name, stats) {
      if (readers.has(name)) throw new Error(`There is a holder "${name}" already.`);
      readers.set(name, stats);
    },
    read: () =>
      [...readers].map(([name, stats]) => {
        const { entries, maxEntries, bytes, maxBytes } = stats();
        return {
          name,
          ...(entries !== undefined && { entries }),
          ...(maxEntries !== undefined && { maxEntries }),
          ...(bytes !== undefined && { bytes }),
          ...(maxBytes !== undefined && { maxBytes }),
        };
      }),
  };
}

type Figure = Exclude<keyof HolderReading, 'name'>;

/** Units come last in a name: prometheus.io/docs/practices/naming (seen 2026-11). */
const GAUGES: Readonly<Record<Figure, { readonly name: string; readonly help: string }>> = {
  entries: { name: 'pennant_held_entries', help: 'Entries of a cache, map or queue.' },
  maxEntries: { name: 'pennant_held_max_entries', help: 'Entries that it may hold.' },
  bytes: { name: 'pennant_held_bytes', help: 'Bytes that a cache, map or queue holds, keys included.' },
  maxBytes: { name: 'pennant_held_max_bytes', help: 'Bytes that it may hold.' },
};

/** Metrics of the current and maximum content of everything that grows with requests. */
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
