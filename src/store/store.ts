import { OperatorError } from '../domain/errors.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { ErasedEntries, Removal } from './removal.ts';

/** A stored value and the wall-clock time when it was stored. */
export interface StoredEntry {
  readonly value: string;
  readonly storedAtMs: number;
}

export interface NewEntry extends StoredEntry {
  /** The channel that a name or a redirect leads to: the entry is removed with it. */
  readonly leadsTo?: string | undefined;
}

/** The `ttlMs` of a value that never becomes outdated. */
export const FOR_GOOD_MS = 100 * 365 * 86_400_000;

/** The store tier of the caches: a key-value store for text. Its failures are misses (`fail-soft.ts`). */
export interface Store {
  /** True when other instances write to the store too: it may contain newer values than this process's memory. */
  readonly isShared?: boolean;
  /** `undefined` if there is none, or if the store fails. */
  get(key: string): Promise<StoredEntry | undefined>;
  /** Like `get`, but rejects if the store fails. */
  read(key: string): Promise<StoredEntry | undefined>;
  /** Stores the value for `ttlMs` from now. */
  set(key: string, entry: NewEntry, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * A key-value store for text, on disk or shared between instances. Every store passes `test/contracts/store.ts`.
 *
 * A store may lose entries at any time. It never returns a broken or expired entry. Its methods reject when the store
 * itself fails.
 */
export interface BackingStore extends Omit<Store, 'read'> {
  /**
   * Removes every entry that the removal names, found by keys and an index, and their bytes from the store's file. Other calls
   * can run in between. If it rejects, some may be removed.
   */
  erase(removal: Removal): Promise<ErasedEntries>;
}

interface StoreParts {
  readonly runtime: Runtime;
  /** With `REDIS_URL` only. */
  readonly connection: RedisConnection | undefined;
  /** Called with the key of a value that the store did not write. */
  readonly onRefused: (key: string) => void;
}

/** A kind of store, which `registry.ts` can choose: how to open it, and what commands do without opening it. */
export interface StoreDriver {
  /** For messages: a path or a server. */
  readonly where: string;
  /** Files that must be writable if they exist. */
  readonly files: readonly string[];
  /** For `serve --check`; changes nothing. */
  check(): Promise<{ readonly level: 'ok' | 'warning'; readonly text: string }>;
  open(parts: StoreParts): BackingStore;
}

/** The stored data cannot be read; the message is for the operator. */
export class StoreUnreadableError extends OperatorError {}
