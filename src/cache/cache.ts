import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { type AppError, isUpstreamFailure } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED, withinMs } from '../lib/deadlines.ts';
import { createFailedKeys } from '../lib/failed-keys.ts';
import { createMemoryCache } from '../lib/memory-cache.ts';
import { createSingleFlight } from '../lib/single-flight.ts';
import {
  type CachePolicy,
  type Entry,
  freshLeftMs,
  isServable,
  maxAgeMs,
  memoryBytesOf,
  readContent,
  writeContent,
} from './entry.ts';
import { createMatcher, type Removal } from './removal.ts';
import type { Store } from './store.ts';

export interface Loaded<V> {
  readonly value: V;
  /** The version of what the value was made from, if there are several. */
  readonly version?: string;
  /** A shorter time than `policy.freshMs`, for a value that should be reloaded soon. */
  readonly freshMs?: number;
  /** False for a value that stays in memory and does not replace a stored value. */
  readonly isStorable?: boolean;
}

export interface Cached<V> {
  readonly value: V;
  readonly outcome: CacheOutcome;
  /** When it was loaded (wall clock). */
  readonly storedAtMs: number;
  /** False if another instance may have purged it: no new value is made from it. */
  readonly isConfirmed: boolean;
  /** Why a stale value is returned, if its reload has failed. */
  readonly failure?: AppError;
}

export interface LookupOptions {
  /** How long a caller waits for a reload before it gets a stale value; 0: it gets the value at once. Default: 3 s. */
  readonly softTimeoutMs?: number;
  /** A value of another version is stale at any age. Loads, and their failures, are apart for each version. Default: any version. */
  readonly version?: string;
  /** A value that was stored at this time or before is stale. */
  readonly newerThanMs?: number | undefined;
}

interface CacheOptions {
  readonly policy: CachePolicy;
  readonly store: Store;
  /** Values count with the length of their JSON. */
  readonly maxMemoryBytes: number;
  readonly clock: Clock;
}

type Load<V> = (previous: V | undefined) => Promise<Loaded<V>>;

export const SOFT_TIMEOUT_MS = 3_000;
/** How long a failed load is not tried again when there is a stale value. */
const RETRY_MS = 60_000;
/** After this time, a shared store decides about a value in memory: another instance may have purged or replaced it. */
export const COMPARE_MS = 30_000;

export type Cache<V> = ReturnType<typeof createCache<V>>;

/**
 * The values of one kind: in memory, the least recently used evicted first, in front of a store. `README.md` explains it.
 *
 * A value is *unconfirmed* when a shared store no longer has it, or has an older one: another instance has purged it, or the
 * store has lost it. Callers wait for a load as if there were no value, and get it only if the load fails. Without the store,
 * memory is the cache.
 */
export function createCache<V>({ policy, store, maxMemoryBytes, clock }: CacheOptions) {
  const memory = createMemoryCache<Entry<V>>({ maxBytes: maxMemoryBytes, sizeOf: ({ bytes }) => bytes });
  /** Bounded by the calls to YouTube that may wait. */
  const loads = createSingleFlight<Entry<V>>();
  const failures = createFailedKeys({ clock });
  let order = 0;

  function nextOrder(): number {
    order += 1;
    return order;
  }

  // Find

  function findInMemory(key: string): Entry<V> | undefined {
    const held = memory.get(key);
    return held !== undefined && isServable(held, policy, clock) ? held : undefined;
  }

  /** Whether a shared store must be asked about a value in memory. */
  function isUncertain({ isStored, confirmedAtMs = -Infinity }: Entry<V>): boolean {
    return store.isShared && isStored && clock.monotonic() - confirmedAtMs >= COMPARE_MS;
  }

  /** The newest entry of memory and store. */
  async function findInStore(key: string): Promise<Entry<V> | undefined> {
    // `null`: it cannot be told.
    const text = await store.get(key).catch(() => null);
    const stored = typeof text === 'string' ? readEntry(key, text) : undefined;
    // A load may have finished during this read.
    const held = findInMemory(key);
    const isNewer = stored !== undefined && (held === undefined || held.storedAtMs < stored.storedAtMs);
    if (isNewer && isServable(stored, policy, clock)) {
      memory.set(key, stored);
      return stored;
    }
    if (held === undefined) return undefined;
    // Without the store, memory is the cache.
    const isRight = text === null ? isConfirmed(held) : stored?.storedAtMs === held.storedAtMs;
    if (isRight) held.confirmedAtMs = clock.monotonic();
    else if (isUncertain(held)) held.confirmedAtMs = undefined;
    return held;
  }

  function readEntry(key: string, text: string): Entry<V> | undefined {
    const content = readContent<V>(key, text, policy);
    const bytes = memoryBytesOf(key, text);
    return content && { ...content, bytes, isStored: true, order: 0, confirmedAtMs: clock.monotonic() };
  }

  function isFresh(entry: Entry<V>, { version, newerThanMs = -Infinity }: LookupOptions = {}): boolean {
    const isWanted = (version === undefined || entry.version === version) && entry.storedAtMs > newerThanMs;
    return isWanted && isConfirmed(entry) && freshLeftMs(entry, clock) > 0;
  }

  // Join or start

  /**
   * Keeps the value in memory and in the store, unless a value is there whose load began later. Returns that one if it is of
   * the same version.
   */
  function keep(key: string, loaded: Loaded<V>, loadOrder: number): Entry<V> {
    const { value, version, freshMs = policy.freshMs, isStorable = true } = loaded;
    const content = { value, version, storedAtMs: clock.now(), freshMs };
    const text = writeContent(key, content);
    const held = memory.get(key);
    const isNewest = held === undefined || held.order <= loadOrder;
    if (!isNewest && held.version === version) return held;
    const isStored = isStorable && isNewest;
    const bytes = memoryBytesOf(key, text);
    const entry = { ...content, bytes, isStored, order: loadOrder, confirmedAtMs: clock.monotonic() };
    if (isNewest) memory.set(key, entry);
    if (isStored) void store.set(key, text, maxAgeMs(entry, policy));
    return entry;
  }

  /** A load goes on after its callers have left. */
  async function loadAndKeep(
    key: string,
    load: Load<V>,
    loadKey: string,
    found: Entry<V> | undefined,
  ): Promise<Entry<V>> {
    const loadOrder = nextOrder();
    const previous = found !== undefined && isConfirmed(found) ? found.value : undefined;
    const retryMs = staleOf(found) === undefined ? undefined : RETRY_MS;
    return keep(key, await failures.run(loadKey, () => load(previous), retryMs), loadOrder);
  }

  // Wait

  /** The entry, if it may be returned when its load fails. */
  function staleOf(found: Entry<V> | undefined): Entry<V> | undefined {
    return found !== undefined && found.value !== null ? found : undefined;
  }

  /** The loaded value. If there is a stale one, that when the soft timeout has passed or the load has failed. */
  async function waitFor(
    loading: Promise<Entry<V>>,
    found: Entry<V> | undefined,
    { softTimeoutMs, isCollapsed }: { readonly softTimeoutMs: number; readonly isCollapsed: boolean },
  ): Promise<Cached<V>> {
    const stale = staleOf(found);
    const isReplaced = stale !== undefined && isConfirmed(stale);
    try {
      const loaded = await (isReplaced ? withinMs(clock, loading, softTimeoutMs) : loading);
      if (loaded !== undefined) return resultOf(loaded, { kind: isReplaced ? 'refreshed' : 'miss', isCollapsed });
      return resultOf(stale as Entry<V>, { ...STALE, isCollapsed, reason: 'refresh under way' });
    } catch (failure) {
      if (stale === undefined || !isUpstreamFailure(failure)) throw failure;
      return { ...resultOf(stale, { ...STALE, isCollapsed, reason: failure.code }), failure };
    }
  }

  function resultOf(entry: Entry<V>, outcome: Omit<CacheOutcome, 'ttlMs' | 'isStored'>): Cached<V> {
    const leftMs = freshLeftMs(entry, clock);
    // A value of another version, or an unconfirmed one, is stale at any age.
    const ttlMs = outcome.kind === 'stale' ? Math.min(leftMs, -1_000) : leftMs;
    const isStored = entry.isStored && (outcome.kind === 'miss' || outcome.kind === 'refreshed');
    const { value, storedAtMs } = entry;
    return { value, outcome: { ...outcome, ttlMs, isStored }, storedAtMs, isConfirmed: isConfirmed(entry) };
  }

  return {
    /**
     * Returns the value from memory or the store, or loads it. All callers of a key share one load, which continues after they
     * disconnect. During its grace, a stale value is returned if its reload fails or exceeds the soft timeout.
     *
     * @param load gets the former value, fresh or stale
     * @throws the failure of the load when there is no stale value to return, remembered for 15 s if it concerns the key
     */
    async get(key: string, load: Load<V>, options: LookupOptions = {}): Promise<Cached<V>> {
      const held = findInMemory(key);
      // A fresh value in memory needs neither the store nor a load.
      if (held !== undefined && !isUncertain(held) && isFresh(held, options)) return resultOf(held, HIT);
      const { softTimeoutMs = SOFT_TIMEOUT_MS, version } = options;
      const loadKey = version === undefined ? key : `${key} ${version}`;
      // Another instance may have replaced a stale value.
      const found = await findInStore(key);
      if (found !== undefined && isFresh(found, options)) return resultOf(found, HIT);
      const isCollapsed = loads.isRunning(loadKey);
      const loading = loads.run(loadKey, NEVER_ABORTED, () => loadAndKeep(key, load, loadKey, found));
      return waitFor(loading, found, { softTimeoutMs, isCollapsed });
    },

    /**
     * Returns the cached value, fresh or stale, and loads none. `undefined`: nothing is known, or an unconfirmed value whose load
     * has not failed.
     */
    async getCached(key: string): Promise<Cached<V> | undefined> {
      const held = findInMemory(key);
      const found = held !== undefined && !isUncertain(held) ? held : await findInStore(key);
      if (found === undefined || (!isConfirmed(found) && !failures.has(key))) return undefined;
      if (isFresh(found)) return resultOf(found, HIT);
      return staleOf(found) && resultOf(found, STALE);
    },

    /** Stores a value. A load that began before does not replace it. */
    put(key: string, loaded: Loaded<V>): void {
      keep(key, loaded, nextOrder());
    },

    /** Removes values from memory, and all failures, because each of them may be over. The store does not change. */
    forget(removal: Removal): void {
      const { matches } = createMatcher(removal);
      memory.removeWhere((key, { value }) => matches(key, value));
      failures.forget();
    },

    stats: () => ({ memory: memory.stats(), loads: loads.stats(), failures: failures.stats() }),
  };
}

/** False for a value that another instance may have purged. */
function isConfirmed({ confirmedAtMs }: Entry<unknown>): boolean {
  return confirmedAtMs !== undefined;
}

const HIT = { kind: 'hit', isCollapsed: false } as const;
const STALE = { kind: 'stale', isCollapsed: false } as const;
