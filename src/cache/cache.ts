import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { AppError, errorCodeOf, isUpstreamFailure } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/deadlines.ts';
import { createFailedKeys } from '../lib/failed-keys.ts';
import { createMemoryCache } from '../lib/memory-cache.ts';
import type { BoundedStats } from '../lib/metrics.ts';
import {
  ABSENT_FRESH_MS,
  type CachePolicy,
  type Content,
  createEntry,
  type Entry,
  freshLeftMs,
  isServable,
  readEntry,
  valueIn,
  writeContent,
} from './entry.ts';
import type { Store, StoredEntry } from './store.ts';

export interface Loaded<V> {
  readonly value: V;
  /** A shorter time than `policy.freshMs`, for a value that should be reloaded soon. */
  readonly freshMs?: number;
  /** False for a value that stays in memory and does not replace a stored value. */
  readonly isStorable?: boolean;
}

export interface Cached<V> {
  readonly value: V;
  readonly outcome: CacheOutcome;
}

export interface LookupOptions<V> {
  /** How long a caller waits for a reload before it gets a stale value; 0: it gets the value at once. */
  readonly softTimeoutMs: number;
  /** Returns false for a fresh value that must be treated as stale. Default: always true. */
  readonly isCurrent?: (value: V) => boolean;
  /**
   * Distinguishes loads of one key that return different values. A caller joins only a load with the same `loadId`. If another
   * load runs, the caller starts its own, and the result of the earlier one is not stored. Default: all loads of a key are the
   * same.
   */
  readonly loadId?: string;
}

interface CacheOptions<V> {
  readonly policy: CachePolicy<V>;
  readonly store: Store;
  /** Values count with the length of their JSON. */
  readonly maxMemoryBytes: number;
  readonly clock: Clock;
  /** Called with the key of an invalid stored value. */
  readonly onRefused?: (key: string) => void;
}

/** @param previous the former value, fresh or stale */
type Load<V> = (previous: V | undefined) => Promise<Loaded<V>>;

interface RunningLoad<V> {
  readonly loadId: string;
  readonly result: Promise<Entry<V>>;
}

/** How long a failed reload is not tried again. */
const RETRY_MS = 60_000;
/** Maximum number of concurrent loads. The call budget of the upstream allows far fewer. */
const MAX_LOADS = 10_000;
/** After this time, a value in memory is compared with a shared store: another instance may have purged or replaced it. */
export const COMPARE_MS = 30_000;
/** How long a caller waits, at least, for a new value when the shared store no longer has the one in memory. */
const PURGED_WAIT_MS = 3_000;

/** The values of one kind: in memory, the least recently used evicted first, in front of a store. `README.md` explains it. */
export interface Cache<V> {
  /**
   * Returns the value from memory or the store, or loads it. All callers of a key share one load, which continues after they
   * disconnect. During its grace, a stale value is returned if its reload fails or exceeds the soft timeout.
   *
   * @throws AppError `channel_not_found` from the load, kept for 60 s; any other failure of the load when there is no
   * stale value to return, remembered for 15 s if it concerns the key
   */
  get(key: string, load: Load<V>, options: LookupOptions<V>): Promise<Cached<V>>;
  /** Returns the cached value, fresh or stale, and loads none. @throws AppError `channel_not_found` if that is cached */
  peek(key: string): Promise<Cached<V> | undefined>;
  /** Reloads the value, or joins a running load with the same `loadId` (`LookupOptions`). */
  reload(key: string, load: Load<V>, loadId?: string): Promise<Cached<V>>;
  /** Stores what `load` returns. */
  put(key: string, load: Load<V>): Promise<void>;
  /** Forgets values in memory, and failures. The store does not change. */
  forget(): void;
  stats(): Readonly<Record<'memory' | 'loads' | 'failures', BoundedStats>>;
}

export function createCache<V>({ policy, store, maxMemoryBytes, clock, onRefused }: CacheOptions<V>): Cache<V> {
  const memory = createMemoryCache<Entry<V>>({ maxBytes: maxMemoryBytes, sizeOf: ({ bytes }) => bytes });
  const loads = new Map<string, RunningLoad<V>>();
  const storeReads = new Map<string, Promise<Entry<V> | undefined>>();
  const failures = createFailedKeys({ clock });

  function findInMemory(key: string): Entry<V> | undefined {
    const held = memory.get(key);
    return held !== undefined && isServable(held, clock) ? held : undefined;
  }

  /** Whether another instance may have purged or replaced the value since the store last had it. */
  function isUncertain({ isStored, comparedAtMs }: Entry<V>): boolean {
    return store.isShared && isStored && clock.monotonic() - comparedAtMs >= COMPARE_MS;
  }

  async function readStore(key: string): Promise<Entry<V> | undefined> {
    const before = findInMemory(key);
    let stored: StoredEntry | undefined;
    try {
      stored = await store.get(key);
    } catch {
      // Without the store, memory is the cache.
      if (before !== undefined) before.comparedAtMs = clock.monotonic();
      return findInMemory(key);
    }
    const entry = stored && readEntry(clock, key, stored, policy);
    if (stored !== undefined && entry === undefined) onRefused?.(key);
    // A load may have finished during this read.
    const held = memory.get(key);
    const isSame = held !== undefined && held.storedAtMs === entry?.storedAtMs;
    if (isSame) held.comparedAtMs = clock.monotonic();
    const isNewer = entry !== undefined && (held === undefined || held.storedAtMs < entry.storedAtMs);
    if (!isNewer || !isServable(entry, clock)) return findInMemory(key);
    memory.set(key, entry);
    return entry;
  }

  /** The newest entry of memory and store. One in memory that a shared store no longer has stays uncertain. */
  function findInStore(key: string): Promise<Entry<V> | undefined> {
    const running = storeReads.get(key);
    if (running !== undefined) return running;
    const reading = readStore(key).finally(() => storeReads.delete(key));
    storeReads.set(key, reading);
    return reading;
  }

  async function findEntry(key: string): Promise<Entry<V> | undefined> {
    const held = findInMemory(key);
    if (held !== undefined && !isUncertain(held)) return held;
    const found = await findInStore(key);
    return found === undefined || isUncertain(found) ? undefined : found;
  }

  /** Keeps the content in memory and in the store, unless a newer load of the key has begun. */
  function keep(key: string, content: Content<V>, loaded: Omit<Loaded<V>, 'value'>, isLatest = true): Entry<V> {
    const { freshMs = policy.freshMs, isStorable = true } = loaded;
    const { graceMs } = policy;
    const isStored = isStorable && isLatest;
    const value = writeContent(content, freshMs);
    const entry = createEntry(clock, { content, freshMs, graceMs, isStored, characters: key.length + value.length });
    if (isLatest) memory.set(key, entry);
    if (isStored) void store.set(key, { value, storedAtMs: entry.storedAtMs }, entry.maxAgeMs);
    return entry;
  }

  function findLoad(key: string, loadId: string): Promise<Entry<V>> | undefined {
    const running = loads.get(key);
    return running?.loadId === loadId ? running.result : undefined;
  }

  /** Replaces the running load of the key, whose result is then not kept. @throws AppError `overloaded` */
  function startLoad(key: string, load: Load<V>, loadId: string, previous: Entry<V> | undefined): Promise<Entry<V>> {
    if (loads.size >= MAX_LOADS) {
      const message = 'The service is loading too much at the moment. Try again.';
      throw new AppError('overloaded', message, { retryAfterMs: 1_000 });
    }
    const isLatest = () => loads.get(key) === running;

    async function run(): Promise<Entry<V>> {
      // The load is registered before its first step, or a second caller would start another.
      await undefined;
      try {
        const { value, ...loaded } = await failures.run(`${key} ${loadId}`, () => load(valueIn(previous)));
        return keep(key, { value }, loaded, isLatest());
      } catch (error) {
        if (error instanceof AppError && error.code === 'channel_not_found') {
          return keep(key, { absent: error.message }, { freshMs: ABSENT_FRESH_MS }, isLatest());
        }
        // A load that was given up has not failed.
        if (previous !== undefined && errorCodeOf(error) !== 'request_timeout') {
          previous.lastFailure = { loadId, atMs: clock.monotonic() };
        }
        throw error;
      } finally {
        if (isLatest()) loads.delete(key);
      }
    }

    const running: RunningLoad<V> = { loadId, result: run() };
    // Callers handle the failure. A load without callers must not end the process.
    running.result.catch(() => undefined);
    loads.set(key, running);
    return running.result;
  }

  /** The value with its outcome. @throws AppError `channel_not_found` for an absence */
  function resultOf(entry: Entry<V>, outcome: Omit<CacheOutcome, 'ttlMs' | 'isStored'>): Cached<V> {
    const leftMs = freshLeftMs(entry, clock);
    // A value that is not current is stale at any age.
    const ttlMs = outcome.kind === 'stale' ? Math.min(leftMs, -1_000) : leftMs;
    const isStored = entry.isStored && (outcome.kind === 'miss' || outcome.kind === 'refreshed');
    const full = { ...outcome, ttlMs, isStored };
    if ('value' in entry.content) return { value: entry.content.value, outcome: full };
    throw new AppError('channel_not_found', entry.content.absent, { validForMs: Math.max(ttlMs, 0), outcome: full });
  }

  function isFresh(entry: Entry<V>, isCurrent?: (value: V) => boolean): boolean {
    if (freshLeftMs(entry, clock) <= 0 || isUncertain(entry)) return false;
    return isCurrent === undefined || 'absent' in entry.content || isCurrent(entry.content.value);
  }

  /** A lookup that memory alone cannot serve: asks the store, then waits for a load, with a stale value for the soft timeout. */
  async function lookUp(key: string, load: Load<V>, options: LookupOptions<V>): Promise<Cached<V>> {
    const { softTimeoutMs, isCurrent, loadId = '' } = options;
    // Before the store is read: a load that ends meanwhile has the newest value.
    const joined = findLoad(key, loadId);
    const held = findInMemory(key);
    const isNewest = held !== undefined && (joined !== undefined || !store.isShared);
    const found = isNewest ? held : await findInStore(key);
    if (found !== undefined && isFresh(found, isCurrent)) return resultOf(found, HIT);
    const running = joined ?? findLoad(key, loadId);
    const isCollapsed = running !== undefined;
    // An absence has no grace.
    const stale = found !== undefined && 'value' in found.content ? found : undefined;
    if (stale !== undefined && !isCollapsed && hasJustFailed(stale, loadId)) {
      return resultOf(stale, { ...STALE, reason: 'upstream failed' });
    }
    const loading = running ?? startLoad(key, load, loadId, stale);
    if (stale === undefined) return resultOf(await loading, { kind: 'miss', isCollapsed });
    const waitMs = isUncertain(stale) ? Math.max(softTimeoutMs, PURGED_WAIT_MS) : softTimeoutMs;
    return withinSoftTimeout(loading, waitMs, stale, isCollapsed);
  }

  /** The loaded value; the stale one if the load exceeds the soft timeout or upstream fails. */
  async function withinSoftTimeout(
    loading: Promise<Entry<V>>,
    softTimeoutMs: number,
    stale: Entry<V>,
    isCollapsed: boolean,
  ): Promise<Cached<V>> {
    try {
      const loaded = await withinMs(clock, loading, softTimeoutMs);
      if (loaded === undefined) return resultOf(stale, { ...STALE, isCollapsed, reason: 'refresh under way' });
      return resultOf(loaded, { kind: 'refreshed', isCollapsed });
    } catch (error) {
      if (!isUpstreamFailure(error)) throw error;
      return resultOf(stale, { ...STALE, isCollapsed, reason: error.code });
    }
  }

  function hasJustFailed({ lastFailure }: Entry<V>, loadId: string): boolean {
    return lastFailure?.loadId === loadId && clock.monotonic() - lastFailure.atMs < RETRY_MS;
  }

  return {
    async get(key, load, options) {
      const held = findInMemory(key);
      // A fresh value in memory needs neither the store nor a load.
      if (held !== undefined && isFresh(held, options.isCurrent)) return resultOf(held, HIT);
      return lookUp(key, load, options);
    },

    async peek(key) {
      const entry = await findEntry(key);
      return entry && resultOf(entry, freshLeftMs(entry, clock) > 0 ? HIT : STALE);
    },

    async reload(key, load, loadId = '') {
      const joined = findLoad(key, loadId);
      const previous = joined === undefined ? await findEntry(key) : undefined;
      const running = joined ?? findLoad(key, loadId);
      const isCollapsed = running !== undefined;
      return resultOf(await (running ?? startLoad(key, load, loadId, previous)), { kind: 'refreshed', isCollapsed });
    },

    async put(key, load) {
      const { value, ...loaded } = await load(valueIn(await findEntry(key)));
      keep(key, { value }, loaded);
    },

    forget() {
      memory.clear();
      failures.forget();
    },

    stats: () => ({
      memory: memory.stats(),
      loads: { entries: loads.size, maxEntries: MAX_LOADS },
      failures: failures.stats(),
    }),
  };
}

const HIT = { kind: 'hit', isCollapsed: false } as const;
const STALE = { kind: 'stale', isCollapsed: false } as const;
