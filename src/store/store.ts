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
  get(key: string): Promise<StoredEntry | undefined>;
  /** Stores the value for `ttlMs` from now, unless the epoch in which the current work began has ended. */
  set(key: string, entry: NewEntry, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}

/** What an erasure has removed, and the ID of the epoch after it. */
export interface Erasure {
  readonly erased: ErasedEntries;
  readonly epoch: string;
}

/**
 * A key-value store for text, on disk or shared between instances, with the epoch beside its entries. Every
 * store passes `test/contracts/store.ts`.
 *
 * A store may lose entries at any time. It never returns a broken or expired entry. Its methods reject when the store
 * itself fails.
 */
export interface BackingStore extends Pick<Store, 'isShared' | 'get' | 'close'> {
  /** Stores the value for `ttlMs` from now if `epoch` is the ID of the current one. Otherwise it does nothing. */
  set(key: string, entry: NewEntry & { readonly epoch: string }, ttlMs: number): Promise<void>;
  /**
   * Returns the ID of the current epoch, `{series}:{number}`. Its number rises with each erasure, also by another process. A loss
   * of data begins another series.
   *
   * @param known what the last call returned, or ''
   */
  readEpoch(known: string): Promise<string>;
  /**
   * Removes every entry that the removal names, found by keys and an index, and their bytes from the store's file. The number
   * of the epoch rises in the same transaction. Other calls can run in between. If it rejects, some may be removed.
   *
   * @param reason `purge`: all searches are removed. `take-down`, which each start repeats: only the searches that contain one
   *   of the channels are removed, and the number rises only if there was an entry
   */
  erase(removal: Removal, reason: 'purge' | 'take-down'): Promise<Erasure>;
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
