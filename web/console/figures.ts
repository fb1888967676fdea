import { formatDuration } from '../parts/numbers.ts';

/* Figures of the console, computed from the counters that it has polled. */

/** A histogram as in Prometheus: the number of observations up to each upper bound. The last bound is `+Inf`. */
type Buckets = Readonly<Record<string, number>>;

interface Counts {
  readonly [name: string]: number | Counts;
}

/** The growth of every counter since `earlier`, in the same structure. A counter that is new has grown from 0. */
export function growthSince<Kind extends object>(now: Kind, earlier: object = {}): Kind {
  const before = earlier as Counts;
  const grown = Object.entries(now as Counts).map(([name, count]) => {
    const former = before[name];
    return [name, typeof count === 'number' ? count - Number(former ?? 0) : growthSince(count, former as Counts)];
  });
  return Object.fromEntries(grown) as Kind;
}

/**
 * The value that the given share of observations does not exceed, like Prometheus's `histogram_quantile`: values are
 * assumed to be spread evenly in a bucket, and values above the last finite bound count as that bound.
 *
 * @returns `null` without observations
 */
export function quantile(buckets: Buckets, share: number): number | null {
  const rank = share * (buckets['+Inf'] ?? 0);
  if (rank === 0) return null;
  const finite = Object.entries(buckets)
    .map(([bound, count]) => ({ bound: Number(bound), count }))
    .filter(({ bound }) => Number.isFinite(bound))
    .sort((a, b) => a.bound - b.bound);
  let lower = { bound: 0, count: 0 };
  for (const upper of finite) {
    if (upper.count >= rank) {
      return lower.bound + ((upper.bound - lower.bound) * (rank - lower.count)) / (upper.count - lower.count);
    }
    lower = upper;
  }
  return lower.bound;
}

/**
 * The hit rate of cache lookups in percent, and the share of each outcome, 0 to 1. A stale response counts as a hit, because
 * it came from the cache.
 *
 * @returns `undefined` without lookups
 */
export function lookupFigures({ hit = 0, stale = 0, miss = 0, refreshed = 0 }: Readonly<Record<string, number>>) {
  const total = hit + stale + miss + refreshed;
  if (total === 0) return undefined;
  const shares = { hit: hit / total, stale: stale / total, miss: (miss + refreshed) / total };
  return { total, hitPercent: Math.round((shares.hit + shares.stale) * 100), shares };
}

/** Writes `4 min`, `1 h 30 min`, `3 days`. */
export function formatUptime(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Adds the full stop that a reason may lack. */
export function sentence(text: string): string {
  return /[.!?]\)?$/.test(text) ? text : `${text}.`;
}

/** Writes a dash for `null`: nothing was measured. */
export function formatDurationOf(seconds: number | null): string {
  return seconds === null ? '–' : formatDuration(seconds * 1000);
}
