import type { Removal } from './removal.ts';

/**
 * What the two stores have in common: `cache.db`, which is each instance's own, and Redis, which instances share. A store may
 * lose entries at any time, and may return a text that others have written. It reports its failures itself.
 */
export interface Store {
  /** For the operator. */
  readonly name: string;
  readonly isShared: boolean;
  /** @throws Error if it cannot be told whether the store has the entry */
  get(key: string): Promise<string | undefined>;
  /** Stores the text for `ttlMs` from now. A text that cannot be stored is lost. */
  set(key: string, text: string, ttlMs: number): Promise<void>;
  /**
   * Removes entries, and their bytes from the disk. Other calls can run in between.
   *
   * @returns the number of removed entries
   * @throws Error if some may be left
   */
  remove(removal: Removal): Promise<number>;
}
