import { OperatorError } from '../domain/errors.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { Change, Changes } from './changes.ts';
import type { SharedChanges } from './shared-changes.ts';
import type { Statistics } from './stored-kinds.ts';

/** A stored value and the wall-clock time when it was stored. */
export interface StoredEntry {
  readonly value: string;
  readonly storedAtMs: number;
}

/** The `ttlMs` of a value that never becomes outdated. */
export const FOR_GOOD_MS = 100 * 365 * 86_400_000;

/**
 * A key-value store for text, on disk or shared between instances. Every store passes `test/contracts/store.ts`.
 *
 * A store may lose entries at any time. It never returns a broken or expired entry. Its methods reject only when the
 * store itself fails; callers log that and treat it as a miss.
 */
export interface Store {
  /** True when other instances write to the store too: it may contain newer values than this process's memory. */
  readonly isShared?: boolean;
  get(key: string): Promise<StoredEntry | undefined>;
  /** Stores the value for `ttlMs` from now. */
  set(key: string, entry: StoredEntry, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A store that can erase entries permanently: their bytes are removed from its file too. */
export interface ErasableStore extends Store {
  /**
   * Removes every entry that the change concerns (`concernsEntry`), in steps, so that other calls can run in between.
   *
   * @param position of the change in the shared stream: entries whose writer knew the change are kept
   * @returns the removed keys; empty when the whole store was cleared
   */
  erase(change: Change, position?: string): Promise<readonly string[]>;
}

export interface StoreParts {
  readonly runtime: Runtime;
  readonly changes: Changes;
  /** With `REDIS_URL` only. */
  readonly shared: { readonly connection: RedisConnection; readonly sharedChanges: SharedChanges } | undefined;
  /** Called with the key of a value that the store did not write. */
  readonly onRefused: (key: string) => void;
}

/** A store that `registry.ts` can choose, with the operations that commands need. */
export interface StoreBackend {
  /** For messages: a path or a server. */
  readonly where: string;
  /** Files that must be writable if they exist. */
  readonly files: readonly string[];
  /** Its size limit; `undefined`: not limited by this service. */
  readonly maxBytes?: number;
  /** For `serve --check`; changes nothing. */
  check(): Promise<{ readonly level: 'ok' | 'warning'; readonly text: string }>;
  /**
   * For `cache stats`; changes nothing. `bytes` includes the overhead of the store.
   *
   * @throws StoreUnreadableError
   */
  readStatistics(): Promise<{ readonly bytes: number; readonly kinds: Statistics }>;
  /**
   * Reads one value, also while the service runs; changes nothing.
   *
   * @throws StoreUnreadableError
   */
  read(key: string): Promise<string | undefined>;
  open(parts: StoreParts): ErasableStore;
}

/** The stored data cannot be read; the message is for the operator. */
export class StoreUnreadableError extends OperatorError {}
