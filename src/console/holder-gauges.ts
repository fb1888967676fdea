import type { HolderReading, Holders } from '../lib/holders.ts';
import type { Metrics } from '../lib/metrics/metrics.ts';

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
