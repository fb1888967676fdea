import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Change, Changes } from './changes.ts';
import type { SharedChanges } from './shared-changes.ts';
import type { Statistics } from './stored-kinds.ts';

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

/** What a store is opened with. */
export interface StoreParts {
  readonly runtime: Runtime;
  readonly changes: Changes;
  /** With `REDIS_URL` only. */
  readonly shared: { readonly connection: RedisConnection; readonly sharedChanges: SharedChanges } | undefined;
  /** To be called with the key of a value that the store did not write. */
  readonly onRefused: (key: string) => void;
}

/** One of the stores that `registry.ts` chooses from, with what commands need to know about it. */
export interface StoreBackend {
  /** For messages: a path or a server. */
  readonly where: string;
  /** That have to be writable where they exist. */
  readonly files: readonly string[];
  /** The size that it does not exceed; `undefined`: not limited by this service. */
  readonly maxBytes?: number;
  /** Why the service must not start with what is stored, for the operator. */
  findVersionProblem(): string | undefined;
  /** For `serve --check`; changes nothing. */
  check(): Promise<{ readonly level: 'ok' | 'warning' | 'error'; readonly text: string }>;
  /**
   * For `cache stats`; changes nothing. `bytes` includes what the store needs for itself.
   *
   * @throws StoreUnreadableError
   */
  readStatistics(): Promise<{ readonly bytes: number; readonly kinds: Statistics }>;
  /**
   * One value, read beside a service that may be running; changes nothing.
   *
   * @throws StoreUnreadableError
   */
  read(key: string): Promise<string | undefined>;
  open(parts: StoreParts): ErasableStore;
}

/** What is stored cannot be read as it is; the message is for the operator. */
export class StoreUnreadableError extends Error {}
