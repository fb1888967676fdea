/** Observations by size: how many fell under each upper bound and above the one before; the last bound is infinite. */
export interface Buckets {
  readonly upperBounds: readonly number[];
  readonly counts: readonly number[];
}

/** What was added to `earlier` since then. */
export function bucketsSince(now: Buckets, earlier: Buckets): Buckets {
  return {
    upperBounds: now.upperBounds,
    counts: now.counts.map((count, at) => count - (earlier.counts[at] ?? 0)),
  };
}

/**
 * The value that the given share of observations does not exceed, as Prometheus's `histogram_quantile` finds it: within
 * a bucket they are taken to be spread evenly, and above the last finite bound there is nothing but that bound.
 *
 * @returns `null` without observations
 */
export function quantile({ upperBounds, counts }: Buckets, share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  let lower = 0;
  for (const [at, count] of counts.entries()) {
    const upper = upperBounds[at] ?? Number.POSITIVE_INFINITY;
    if (!Number.isFinite(upper)) return lower;
    if (count > 0 && below + count >= rank) return lower + ((upper - lower) * (rank - below)) / count;
    below += count;
    lower = upper;
  }
  return lower;
}
