import { OperatorError } from '../domain/errors.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { ErasedEntries, Removal } from './removal.ts';
import type { Statistics } from './stored-kinds.ts';

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
  set(key: string, entry: NewEntry, ttlMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A store that can erase entries permanently: their bytes are removed from its file too. */
export interface ErasableStore extends Store {
  /**
   * Removes every entry that the removal names, found by keys and an index, in steps, so that other calls can run in between.
   * The caller ends the epoch before, and uses the store again when this has resolved.
   */
  erase(removal: Removal): Promise<ErasedEntries>;
}

/** A store that several instances use. */
export interface SharedStore extends ErasableStore {
  /** What was erased since the last call, by any instance. If there is anything, it ends the epoch. */
  receive(): Promise<readonly Removal[]>;
  /** The latest erasure that this instance has received. */
  position(): string | undefined;
}

export interface StoreParts {
  readonly runtime: Runtime;
  /** With `REDIS_URL` only. */
  readonly connection: RedisConnection | undefined;
  /** The latest erasure in a shared store that an earlier run has received. */
  readonly startPosition: string | undefined;
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
  open(parts: StoreParts): ErasableStore | SharedStore;
}

/** The stored data cannot be read; the message is for the operator. */
export class StoreUnreadableError extends OperatorError {}
