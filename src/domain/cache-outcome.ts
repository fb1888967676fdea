/** Where a value came from, for `Cache-Status` and for metrics. */
export interface CacheOutcome {
  /**
   * `catalog`: from the operator's catalog, which is no cache. `hit`: fresh. `stale`: an old value was served. `miss`: loaded now.
   * `refreshed`: loaded now to replace a stale one.
   */
  readonly kind: 'catalog' | 'hit' | 'stale' | 'miss' | 'refreshed';
  /** Remaining freshness in milliseconds. Negative for a stale value. */
  readonly ttlMs: number;
  /** True if this request waited for a load that another request had started. */
  readonly isCollapsed: boolean;
  /** True if this request has stored the value (`stored` in `Cache-Status`). */
  readonly isStored: boolean;
  /** Why a stale value was served. */
  readonly reason?: string;
}
