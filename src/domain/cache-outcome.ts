/** How an answer came about, for `Cache-Status` and for metrics. */
export interface CacheOutcome {
  /** `hit`: fresh. `stale`: an old value was served. `miss`: loaded now. `refreshed`: loaded now, in place of an old one. */
  readonly kind: 'hit' | 'stale' | 'miss' | 'refreshed';
  /** Milliseconds of freshness left; negative for an old value. */
  readonly ttlMs: number;
  /** This request waited for a load that another had started. */
  readonly isCollapsed: boolean;
  readonly isStored: boolean;
  /** Why an old value was served. */
  readonly reason?: string;
}
