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
  /** Returns false for a fresh value that must be treated as stale, also after a load that the caller joined. Default: always true. */
  readonly isCurrent?: (value: V) => boolean;
  /** What a failure of the load concerns. A load with another one is not held back by it. Default: the key. */
  readonly failureKey?: string;
}

interface CacheOptions {
  readonly policy: CachePolicy;
  readonly store: Store;
  /** Values count with the length of their JSON. */
  readonly maxMemoryBytes: number;
  readonly clock: Clock;
}

/** @param previous the former value, fresh or stale */
type Load<V> = (previous: V | undefined) => Promise<Loaded<V>>;

/** How long a failed load is not tried again when there is a stale value. */
const RETRY_MS = 60_000;
/** After this time, a shared store decides about a value in memory: another instance may have purged or replaced it. */
export const COMPARE_MS = 30_000;

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
  /** Stores what `load` returns. */
  put(key: string, load: Load<V>): Promise<void>;
  /** Forgets values in memory, and failures. The store does not change. */
  forget(): void;
  stats(): Readonly<Record<'memory' | 'loads' | 'failures', BoundedStats>>;
}

export function createCache<V>({ policy, store, maxMemoryBytes, clock }: CacheOptions): Cache<V> {
  const memory = createMemoryCache<Entry<V>>({ maxBytes: maxMemoryBytes, sizeOf: ({ bytes }) => bytes });
  /** Bounded by the calls to upstream that may wait. */
  const loads = new Map<string, Promise<Entry<V>>>();
  const failures = createFailedKeys({ clock });

  function findInMemory(key: string): Entry<V> | undefined {
    const held = memory.get(key);
    return held !== undefined && isServable(held, clock) && !isUncertain(held) ? held : undefined;
  }

  function isUncertain({ isStored, comparedAtMs }: Entry<V>): boolean {
    return store.isShared && isStored && clock.monotonic() - comparedAtMs >= COMPARE_MS;
  }

  /** The newest entry of memory and store. */
  async function findInStore(key: string): Promise<Entry<V> | undefined> {
    let stored: StoredEntry | undefined;
    let isStoreUsable = true;
    try {
      stored = await store.get(key);
    } catch {
      isStoreUsable = false;
    }
    const entry = stored && readEntry<V>(clock, key, stored, policy);
    // A load may have finished during this read.
    const held = memory.get(key);
    // Without the store, memory is the cache.
    const isConfirmed = !isStoreUsable || held?.storedAtMs === entry?.storedAtMs;
    if (held !== undefined && isConfirmed) held.comparedAtMs = clock.monotonic();
    const isNewer = entry !== undefined && (held === undefined || held.storedAtMs < entry.storedAtMs);
    if (!isNewer || !isServable(entry, clock)) return findInMemory(key);
    memory.set(key, entry);
    return entry;
  }

  async function findEntry(key: string): Promise<Entry<V> | undefined> {
    return findInMemory(key) ?? findInStore(key);
  }

  /** Keeps the content in memory and in the store. */
  function keep(key: string, content: Content<V>, loaded: Omit<Loaded<V>, 'value'>): Entry<V> {
    const { freshMs = policy.freshMs, isStorable: isStored = true } = loaded;
    const { graceMs } = policy;
    const value = writeContent(content, freshMs);
    const entry = createEntry(clock, { content, freshMs, graceMs, isStored, characters: key.length + value.length });
    memory.set(key, entry);
    if (isStored) void store.set(key, { value, storedAtMs: entry.storedAtMs }, entry.maxAgeMs);
    return entry;
  }

  function startLoad(
    key: string,
    load: Load<V>,
    previous: Entry<V> | undefined,
    failureKey: string,
  ): Promise<Entry<V>> {
    async function run(): Promise<Entry<V>> {
      // The load is registered before its first step, or a second caller would start another.
      await undefined;
      try {
        const retryMs = previous === undefined ? undefined : RETRY_MS;
        const { value, ...loaded } = await failures.run(failureKey, () => load(valueIn(previous)), retryMs);
        return keep(key, { value }, loaded);
      } catch (error) {
        if (errorCodeOf(error) !== 'channel_not_found') throw error;
        return keep(key, { absent: true }, { freshMs: ABSENT_FRESH_MS });
      } finally {
        loads.delete(key);
      }
    }

    const running = run();
    // Callers handle the failure. A load without callers must not end the process.
    running.catch(() => undefined);
    loads.set(key, running);
    return running;
  }

  /** The value with its outcome. @throws AppError `channel_not_found` for an absence */
  function resultOf(entry: Entry<V>, outcome: Omit<CacheOutcome, 'ttlMs' | 'isStored'>): Cached<V> {
    const leftMs = freshLeftMs(entry, clock);
    // A value that is not current is stale at any age.
    const ttlMs = outcome.kind === 'stale' ? Math.min(leftMs, -1_000) : leftMs;
    const isStored = entry.isStored && (outcome.kind === 'miss' || outcome.kind === 'refreshed');
    const full = { ...outcome, ttlMs, isStored };
    if ('value' in entry.content) return { value: entry.content.value, outcome: full };
    const validForMs = Math.max(ttlMs, 0);
    throw new AppError('channel_not_found', 'There is no such channel.', { validForMs, outcome: full });
  }

  function isWanted({ content }: Entry<V>, isCurrent?: (value: V) => boolean): boolean {
    return isCurrent === undefined || 'absent' in content || isCurrent(content.value);
  }

  function isFresh(entry: Entry<V>, isCurrent?: (value: V) => boolean): boolean {
    return freshLeftMs(entry, clock) > 0 && isWanted(entry, isCurrent);
  }

  /** A lookup that memory alone cannot serve: asks the store, then waits for a load, with a stale value for the soft timeout. */
  async function lookUp(key: string, load: Load<V>, options: LookupOptions<V>, isSecond = false): Promise<Cached<V>> {
    const { softTimeoutMs, isCurrent, failureKey = key } = options;
    // Before the store is read: a load that ends meanwhile has the newest value.
    const joined = loads.get(key);
    const held = findInMemory(key);
    const isNewest = held !== undefined && (joined !== undefined || !store.isShared);
    const found = isNewest ? held : await findInStore(key);
    if (found !== undefined && isFresh(found, isCurrent)) return resultOf(found, HIT);
    const running = joined ?? loads.get(key);
    const isCollapsed = running !== undefined;
    // An absence has no grace.
    const stale = found !== undefined && 'value' in found.content ? found : undefined;
    const loading = running ?? startLoad(key, load, stale, failureKey);
    try {
      const loaded = stale === undefined ? await loading : await withinMs(clock, loading, softTimeoutMs);
      // The load was another caller's, who wanted another value.
      const isOther = isCollapsed && !isSecond && loaded !== undefined && !isWanted(loaded, isCurrent);
      if (isOther) return await lookUp(key, load, options, true);
      if (loaded !== undefined)
        return resultOf(loaded, { kind: stale === undefined ? 'miss' : 'refreshed', isCollapsed });
      return resultOf(stale as Entry<V>, { ...STALE, isCollapsed, reason: 'refresh under way' });
    } catch (error) {
      if (stale === undefined || !isUpstreamFailure(error)) throw error;
      return resultOf(stale, { ...STALE, isCollapsed, reason: error.code });
    }
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
      loads: { entries: loads.size },
      failures: failures.stats(),
    }),
  };
}

const HIT = { kind: 'hit', isCollapsed: false } as const;
const STALE = { kind: 'stale', isCollapsed: false } as const;
