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
} from './entry.ts';
import { createMatcher, type Removal } from './removal.ts';
import type { Store } from './store.ts';

export interface Loaded<V> {
  readonly value: V;
  /** The version of what the value was made from, if there are several. */
  readonly version?: string | undefined;
  /** A shorter time than `policy.freshMs`, for a value that should be reloaded soon. */
  readonly freshMs?: number;
  /** False for a value that stays in memory and does not replace a stored value. */
  readonly isStored?: boolean;
}

export interface Cached<V> {
  readonly value: V;
  readonly outcome: CacheOutcome;
  /** When it was loaded (wall clock). */
  readonly storedAtMs: number;
  /** True if another instance may have purged it: no new value is made from it. */
  readonly isLost: boolean;
  /** Why a stale value is returned, if its reload has failed. */
  readonly failure?: AppError;
}

export interface LookupOptions {
  /** How long a caller waits for a reload before it gets a stale value; 0: it gets the value at once. Default: 3 s. */
  readonly softTimeoutMs?: number;
  /** A value of another version is stale at any age. Loads, and their failures, are apart for each version. Default: any version. */
  readonly version?: string;
}

/**
 * What memory and store have. A `fresh` value is returned. With a `stale` one, callers wait for a load until the soft timeout; with
 * a `lost` one as if there were none, and get it only if the load fails.
 */
interface Found<V> {
  readonly state: 'fresh' | 'stale' | 'lost';
  readonly entry: Entry<V>;
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
 * A value in memory is *lost* when a shared store no longer has it, or has an older one: another instance has purged it, or the
 * store has lost it. Without the store, memory is the cache.
 */
export function createCache<V>({ policy, store, maxMemoryBytes, clock }: CacheOptions) {
  const memory = createMemoryCache<Entry<V>>({ maxBytes: maxMemoryBytes, sizeOf: ({ bytes }) => bytes });
  /** Bounded by the calls to YouTube that may wait. */
  const loads = createSingleFlight<Entry<V>>();
  const failures = createFailedKeys({ clock });
  /** The number of loads that have begun, and of values that were put. */
  let order = 0;

  // Find

  /** Finds the newest value of memory and store. An absence is found only while it is fresh. */
  async function find(key: string, version?: string): Promise<Found<V> | undefined> {
    const held = memory.get(key);
    // A fresh value in memory needs neither the store nor a load. Another instance may have replaced a stale one.
    const isEnough = held !== undefined && isFresh(held, version) && !isDue(held);
    const entry = isEnough ? held : await findInStore(key);
    if (entry === undefined) return undefined;
    if (isFresh(entry, version)) return { state: 'fresh', entry };
    if (entry.value === null) return undefined;
    return { state: entry.isLost ? 'lost' : 'stale', entry };
  }

  function isFresh(entry: Entry<V>, version?: string): boolean {
    const isWanted = version === undefined || entry.version === version;
    return isWanted && !entry.isLost && freshLeftMs(entry, clock) > 0;
  }

  /** Whether a value in memory must be compared with the shared store. */
  function isDue({ isStored, comparedAtMs }: Entry<V>): boolean {
    return store.isShared && isStored && clock.monotonic() - comparedAtMs >= COMPARE_MS;
  }

  /** Finds the newest entry of memory and store, and compares one in memory with the store. */
  async function findInStore(key: string): Promise<Entry<V> | undefined> {
    // `null`: it cannot be told.
    const text = await store.get(key).catch(() => null);
    const stored = text === null ? undefined : readEntry(key, text);
    // A load may have finished during this read.
    const held = memory.get(key);
    if (stored !== undefined && (held === undefined || held.storedAtMs < stored.storedAtMs)) {
      memory.set(key, stored);
      return stored;
    }
    if (held === undefined || !isServable(held, policy, clock)) return undefined;
    // Without the store, memory is the cache.
    const isLost = text === null ? held.isLost : stored?.storedAtMs !== held.storedAtMs;
    // A value that is not due may be on its way to the store.
    if (!isLost || isDue(held)) Object.assign(held, { isLost, comparedAtMs: clock.monotonic() });
    return held;
  }

  function readEntry(key: string, text = ''): Entry<V> | undefined {
    const content = readContent<V>(text, policy);
    if (content === undefined || !isServable(content, policy, clock)) return undefined;
    const bytes = memoryBytesOf(key, text);
    return { ...content, bytes, isStored: true, order: 0, comparedAtMs: clock.monotonic() };
  }

  // Join or start

  /**
   * Keeps the value in memory and in the store, unless a value is there whose load began later. Returns that one if it is of
   * the same version.
   */
  function keep(key: string, loaded: Loaded<V>, loadOrder: number, storedAtMs = clock.now()): Entry<V> {
    const { value, version, freshMs = policy.freshMs } = loaded;
    const held = memory.get(key);
    const isNewest = held === undefined || held.order <= loadOrder;
    if (!isNewest && held.version === version) return held;
    const content = { value, version, storedAtMs, freshMs };
    const text = JSON.stringify(content);
    const bytes = memoryBytesOf(key, text);
    const isStored = isNewest && loaded.isStored !== false;
    const entry = { ...content, bytes, isStored, order: loadOrder, comparedAtMs: clock.monotonic() };
    if (isNewest) memory.set(key, entry);
    if (isStored) void store.set(key, text, maxAgeMs(entry, policy));
    return entry;
  }

  /** A load goes on after its callers have left. */
  async function loadAndKeep(key: string, load: Load<V>, loadKey: string, found?: Found<V>): Promise<Entry<V>> {
    order += 1;
    const loadOrder = order;
    const previous = found?.state === 'stale' ? found.entry.value : undefined;
    const retryMs = found === undefined ? undefined : RETRY_MS;
    return keep(key, await failures.run(loadKey, () => load(previous), retryMs), loadOrder);
  }

  // Wait

  /** The loaded value. If there is a stale one, that when the soft timeout has passed or the load has failed. */
  async function waitFor(
    loading: Promise<Entry<V>>,
    found: Found<V> | undefined,
    softTimeoutMs: number,
    isCollapsed: boolean,
  ): Promise<Cached<V>> {
    if (found === undefined) return resultOf(await loading, { kind: 'miss', isCollapsed });
    const { state, entry } = found;
    try {
      if (state === 'lost') return resultOf(await loading, { kind: 'miss', isCollapsed });
      const loaded = await withinMs(clock, loading, softTimeoutMs);
      if (loaded !== undefined) return resultOf(loaded, { kind: 'refreshed', isCollapsed });
      return resultOf(entry, { ...STALE, isCollapsed, reason: 'refresh under way' });
    } catch (failure) {
      if (!isUpstreamFailure(failure)) throw failure;
      return { ...resultOf(entry, { ...STALE, isCollapsed, reason: failure.code }), failure };
    }
  }

  function resultOf(entry: Entry<V>, outcome: Omit<CacheOutcome, 'ttlMs' | 'isStored'>): Cached<V> {
    const leftMs = freshLeftMs(entry, clock);
    // A value of another version, or a lost one, is stale at any age.
    const ttlMs = outcome.kind === 'stale' ? Math.min(leftMs, -1_000) : leftMs;
    const isStored = entry.isStored && (outcome.kind === 'miss' || outcome.kind === 'refreshed');
    const { value, storedAtMs, isLost = false } = entry;
    return { value, outcome: { ...outcome, ttlMs, isStored }, storedAtMs, isLost };
  }

  return {
    /**
     * Returns the value from memory or the store, or loads it. All callers of a key share one load, which continues after they
     * disconnect. During its grace, a stale value is returned if its reload fails or exceeds the soft timeout.
     *
     * @param load gets the stale value
     * @throws the failure of the load when there is no stale value to return, remembered for 15 s if it concerns the key
     */
    async get(key: string, load: Load<V>, options: LookupOptions = {}): Promise<Cached<V>> {
      const { softTimeoutMs = SOFT_TIMEOUT_MS, version } = options;
      const found = await find(key, version);
      if (found?.state === 'fresh') return resultOf(found.entry, HIT);
      const loadKey = version === undefined ? key : `${key} ${version}`;
      const isCollapsed = loads.isRunning(loadKey);
      const loading = loads.run(loadKey, NEVER_ABORTED, () => loadAndKeep(key, load, loadKey, found));
      return waitFor(loading, found, softTimeoutMs, isCollapsed);
    },

    /**
     * Returns the cached value, fresh or stale, and loads none. `undefined`: nothing is known, or a lost value whose load has not
     * failed.
     */
    async getCached(key: string): Promise<Cached<V> | undefined> {
      const found = await find(key);
      if (found === undefined || (found.state === 'lost' && !failures.has(key))) return undefined;
      return resultOf(found.entry, found.state === 'fresh' ? HIT : STALE);
    },

    /** Stores a value. A load that began before does not replace it. */
    put(key: string, loaded: Loaded<V>): void {
      order += 1;
      keep(key, loaded, order);
    },

    /** Makes the value that was stored at this time stale. Does nothing if it has been replaced, or is lost. */
    async expire(key: string, storedAtMs: number): Promise<void> {
      const entry = await findInStore(key);
      if (entry === undefined || entry.storedAtMs !== storedAtMs || !isFresh(entry)) return;
      keep(key, { ...entry, freshMs: 0 }, entry.order, storedAtMs);
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

const HIT = { kind: 'hit', isCollapsed: false } as const;
const STALE = { kind: 'stale', isCollapsed: false } as const;
