import { readMetrics } from '../helpers/metrics.ts';

/** The metrics of everything that grows with requests. */
export interface BoundMetrics {
  readonly gauges: readonly GaugeReading[];
  /** The number of all series. If it grows, a label takes values from requests. */
  readonly seriesCount: number;
}

export interface GaugeReading {
  readonly name: string;
  /** The used share of its bound on entries or bytes, whichever is larger. `undefined` without a bound of its own. */
  readonly fullness: number | undefined;
}

const BOUND = /^pennant_(\w+?)_(max_)?(entries|bytes) (\S+)$/gm;

export function readBoundMetrics(metrics: string): BoundMetrics {
  const figures = new Map<string, Record<string, number>>();
  for (const [, name = '', max = '', unit = '', value] of metrics.matchAll(BOUND)) {
    figures.set(name, { ...figures.get(name), [max + unit]: Number(value) });
  }
  return {
    gauges: [...figures].map(([name, read]) => ({ name, fullness: fullnessOf(read) })),
    seriesCount: readMetrics(metrics).size,
  };
}

function fullnessOf({ entries, max_entries: maxEntries, bytes, max_bytes: maxBytes }: Record<string, number>) {
  const shares = [share(entries, maxEntries), share(bytes, maxBytes)].filter((value) => value !== undefined);
  return shares.length === 0 ? undefined : Math.max(...shares);
}

function share(value: number | undefined, limit: number | undefined): number | undefined {
  return value === undefined || limit === undefined || limit === 0 ? undefined : value / limit;
}
