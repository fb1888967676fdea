import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { AppError, errorCodeOf, isUpstreamFailure } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED, withinMs } from '../lib/deadlines.ts';
import { createMemoryCache } from '../lib/memory-cache.ts';
import type { BoundedStats } from '../lib/metrics.ts';
import { createSharedWork } from '../lib/shared-work.ts';
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
} from './entry.ts';
import { createLoads } from './loads.ts';
import type { Store, StoredEntry } from './store.ts';

export interface Loaded<V> {
  readonly value: V;
  /** Shorter for a value that should be reloaded soon. Default: that of the policy. */
  readonly freshMs?: number;
  /** False for a value that stays in the memory tier and does not replace a stored value. */
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

interface ReadThroughOptions<V> {
  readonly policy: CachePolicy<V>;
  /** Of the memory tier. Values count with the length of their JSON. */
  readonly maxMemoryBytes: number;
  readonly storeTier: {
    readonly store: Store;
    /** Called for an invalid stored value. */
    readonly onRefused?: (key: string) => void;
  };
  readonly clock: Clock;
}

type Load<V> = (previous: V | undefined) => Promise<Loaded<V>>;

const RETRY_FAILED_LOAD_MS = 60_000;
/** After this time, a value in memory is compared with a shared store: another instance may have purged or replaced it. */
export const COMPARE_MS = 30_000;
/** How long a caller waits, at least, for a new value when the shared store no longer has the one in memory. */
const PURGED_WAIT_MS = 3_000;

/**
 * A cache with two tiers, an LRU cache in memory and a store. A lookup asks the memory tier, then the store tier, and then starts
 * a load or joins the one that runs. During its grace, a stale value is returned if its reload fails or exceeds the soft timeout.
 * A load continues after its callers disconnect.
 */
export interface ReadThrough<V> {
  /**
   * Returns the value from a tier, or loads it.
   *
   * @throws AppError `channel_not_found` from the load, kept for 60 s; any other failure of the load when there is no
   * stale value to return
   */
  get(key: string, load: Load<V>, options: LookupOptions<V>): Promise<Cached<V>>;
  /** Returns the cached value, fresh or stale, without loading one. */
  find(key: string): Promise<V | undefined>;
  /** Like `find`, with the cache outcome. @throws AppError `channel_not_found` if that is what is cached */
  peek(key: string): Promise<Cached<V> | undefined>;
  /** Reloads the value, or joins a running load with the same `loadId` (`LookupOptions`). */
  reload(key: string, load: Load<V>, loadId?: string): Promise<Cached<V>>;
  /** Stores what `load` returns for the cached value, fresh or stale. */
  put(key: string, load: Load<V>): Promise<void>;
  /** Changes the cached value, if there is one, without changing its age. */
  patch(key: string, change: (value: V) => V): Promise<void>;
  /** Empties the memory tier. The store tier does not change. */
  clearMemory(): void;
  stats(): { readonly memory: BoundedStats & { readonly entries: number }; readonly loading: BoundedStats };
}

export function createReadThrough<V>(options: ReadThroughOptions<V>): ReadThrough<V> {
  const { policy, maxMemoryBytes, storeTier, clock } = options;
  const { store, onRefused } = storeTier;
  const { freshMs, graceMs, leadsTo, retryFailedLoadMs = RETRY_FAILED_LOAD_MS } = policy;
  const memory = createMemoryCache<Entry<V>>({ maxBytes: maxMemoryBytes, sizeOf: (entry) => entry.bytes });
  const loads = createLoads<Entry<V>>();
  const storeReads = createSharedWork<Entry<V> | undefined>();

  function findInMemory(key: string): Entry<V> | undefined {
    const held = memory.get(key);
    return held !== undefined && isServable(held, clock) ? held : undefined;
  }

  /** Whether another instance may have purged or replaced the value since the store last had it. */
  function isUncertain({ isStored, comparedAtMs }: Entry<V>): boolean {
    return store.isShared === true && isStored && clock.monotonic() - comparedAtMs >= COMPARE_MS;
  }

  /** The newest entry of both tiers. One in memory that a shared store no longer has stays uncertain. */
  async function findInStore(key: string): Promise<Entry<V> | undefined> {
    const before = findInMemory(key);
    let stored: StoredEntry | undefined;
    try {
      stored = await store.read(key);
    } catch {
      // Without the store, memory is the cache.
      if (before !== undefined) before.comparedAtMs = clock.monotonic();
      return findInMemory(key);
    }
    const entry = stored && readEntry(clock, key, stored, policy);
    if (stored !== undefined && entry === undefined) onRefused?.(key);
    // A load may have finished during this read.
    const held = memory.get(key);
    if (entry === undefined || (held !== undefined && held.storedAtMs > entry.storedAtMs)) return findInMemory(key);
    if (held?.storedAtMs === entry.storedAtMs) held.comparedAtMs = clock.monotonic();
    if (held?.storedAtMs === entry.storedAtMs || !isServable(entry, clock)) return findInMemory(key);
    memory.set(key, entry);
    return entry;
  }

  async function findEntry(key: string): Promise<Entry<V> | undefined> {
    const held = findInMemory(key);
    if (held !== undefined && !isUncertain(held)) return held;
    const found = await findInStore(key);
    return found === undefined || isUncertain(found) ? undefined : found;
  }

  /**
   * Stores the content in both tiers, unless a newer load of the key has begun.
   *
   * @returns the entry for the response, stored or not
   */
  function setInTiers(
    key: string,
    content: Content<V>,
    { freshMs: freshForMs = freshMs, isStorable = true, storedAtMs = clock.now(), isLatest = true },
  ): Entry<V> {
    const text = JSON.stringify({ ...content, freshMs: freshForMs });
    const form = { content, freshMs: freshForMs, storedAtMs, graceMs };
    const entry = createEntry(clock, { ...form, isStored: isStorable, characters: key.length + text.length });
    if (!isLatest) return { ...entry, isStored: false };
    memory.set(key, entry);
    const keptMs = entry.maxAgeMs - (clock.now() - storedAtMs);
    const channelId = 'value' in content ? leadsTo?.(content.value) : undefined;
    if (isStorable) void store.set(key, { value: text, storedAtMs, leadsTo: channelId }, keptMs);
    return entry;
  }

  function startLoad(key: string, load: Load<V>, loadId: string, previous: Entry<V> | undefined): Promise<Entry<V>> {
    return loads.start(key, loadId, async (isLatest) => {
      try {
        const { value, ...loaded } = await load(valueIn(previous));
        return setInTiers(key, { value }, { ...loaded, isLatest: isLatest() });
      } catch (error) {
        if (error instanceof AppError && error.code === 'channel_not_found') {
          return setInTiers(key, { absent: error.message }, { freshMs: ABSENT_FRESH_MS, isLatest: isLatest() });
        }
        // A load that was given up has not failed.
        if (previous !== undefined && errorCodeOf(error) !== 'request_timeout') {
          previous.lastFailure = { loadId, atMs: clock.monotonic() };
        }
        throw error;
      }
    });
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

  /** A lookup that memory alone cannot serve: asks the tiers, then waits for a load, with a stale value for the soft timeout. */
  async function lookUp(key: string, load: Load<V>, options: LookupOptions<V>): Promise<Cached<V>> {
    const { softTimeoutMs, isCurrent, loadId = '' } = options;
    // Before the tiers are read: a load that ends meanwhile has the newest value.
    const joined = loads.find(key, loadId);
    const isWanted = (entry: Entry<V>) => isFresh(entry, isCurrent);
    const found = await findInTiers(key, isWanted, joined !== undefined);
    if (found !== undefined && isWanted(found)) return resultOf(found, HIT);
    const running = joined ?? loads.find(key, loadId);
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

  /**
   * The entry of the memory tier, or else of the store tier. If the one in memory is not wanted, another instance may have stored
   * a newer one. A running load makes that read unnecessary.
   */
  async function findInTiers(
    key: string,
    isWanted: (entry: Entry<V>) => boolean,
    isLoading: boolean,
  ): Promise<Entry<V> | undefined> {
    const held = findInMemory(key);
    if (held === undefined) return findInStore(key);
    if (isWanted(held) || isLoading || store.isShared !== true) return held;
    // The store has its own time limit.
    return (await storeReads.run(key, NEVER_ABORTED, () => findInStore(key))) ?? held;
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
    return lastFailure?.loadId === loadId && clock.monotonic() - lastFailure.atMs < retryFailedLoadMs;
  }

  async function reload(key: string, load: Load<V>, loadId: string): Promise<Cached<V>> {
    const running = loads.find(key, loadId);
    const previous = running === undefined ? await findEntry(key) : undefined;
    const result = running ?? loads.find(key, loadId) ?? startLoad(key, load, loadId, previous);
    return resultOf(await result, { kind: 'refreshed', isCollapsed: running !== undefined });
  }

  return {
    async get(key, load, options) {
      const held = findInMemory(key);
      // There is nothing to wait for.
      if (held !== undefined && isFresh(held, options.isCurrent)) return resultOf(held, HIT);
      return lookUp(key, load, options);
    },

    find: async (key) => valueIn(await findEntry(key)),

    async peek(key) {
      const entry = await findEntry(key);
      return entry && resultOf(entry, freshLeftMs(entry, clock) > 0 ? HIT : STALE);
    },

    reload: (key, load, loadId = '') => reload(key, load, loadId),

    async put(key, load) {
      const { value, ...loaded } = await load(valueIn(await findEntry(key)));
      setInTiers(key, { value }, loaded);
    },

    async patch(key, change) {
      // A current load would overwrite the change.
      await loads.ended(key);
      const entry = await findEntry(key);
      if (entry === undefined || 'absent' in entry.content) return;
      const kept = { freshMs: entry.freshMs, storedAtMs: entry.storedAtMs, isStorable: entry.isStored };
      setInTiers(key, { value: change(entry.content.value) }, kept);
    },

    clearMemory: memory.clear,

    stats: () => ({ memory: memory.stats(), loading: loads.stats() }),
  };
}

const HIT = { kind: 'hit', isCollapsed: false } as const;
const STALE = { kind: 'stale', isCollapsed: false } as const;
