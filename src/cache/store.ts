/** A stored value and the wall-clock time when it was stored. */
export interface StoredEntry {
  readonly value: string;
  readonly storedAtMs: number;
}

/** What a purge or a take-down removes. */
export interface Removal {
  /** Every entry goes whose key or value names one of these channels. */
  readonly channelIds: readonly string[];
  readonly keys: readonly string[];
}

/**
 * What the two stores have in common: `cache.db`, which is each instance's own, and Redis, which instances share. A store may
 * lose entries at any time. It reports its failures itself, and returns an entry only as it was written: each has a checksum.
 */
export interface Store {
  /** For the operator. */
  readonly name: string;
  readonly isShared: boolean;
  /** @throws Error if it cannot be told whether the store has the entry */
  get(key: string): Promise<StoredEntry | undefined>;
  /** Stores the value for `ttlMs` from now. One that cannot be stored is lost. */
  set(key: string, entry: StoredEntry, ttlMs: number): Promise<void>;
  /**
   * Removes entries, and their bytes from the disk. Other calls can run in between.
   *
   * @returns the number of removed entries
   * @throws Error if some may be left
   */
  remove(removal: Removal): Promise<number>;
  /** Waits for writes. */
  close(): Promise<void>;
}
