import type { Change } from './changes.ts';

/** A stored value with the time it was stored, wall clock. */
export interface StoredEntry {
  readonly value: string;
  readonly storedAtMs: number;
}

/**
 * Key to text, on disk or shared between instances. Every store passes `test/contracts/store.ts`.
 *
 * A store may lose entries at any time and never returns a broken or expired one. Its methods reject only when the
 * store itself fails; callers treat that as a miss and log it.
 */
export interface Store {
  /** True where other instances write to it too, so that it may have something newer than this process's memory. */
  readonly isShared?: boolean;
  get(key: string): Promise<StoredEntry | undefined>;
  /** Keeps the value for `ttlMs` from now; `storedAtMs` is the caller's clock. */
  set(key: string, entry: StoredEntry, ttlMs: number): Promise<void>;
  delete(key: string): Promise<void>;
  close(): Promise<void>;
}

/** A store out of which things can be taken for good: the bytes are gone from its file as well. */
export interface ErasableStore extends Store {
  /**
   * Removes every entry that the change concerns (`concernsEntry`), in steps that let other calls through.
   *
   * @param position of the change among those that instances share: entries whose writer knew it stay
   * @returns the keys that went; none where it was emptied as a whole
   */
  erase(change: Change, position?: string): Promise<readonly string[]>;
}
