import { AppError, type CacheOutcome, errorCodeOf, isIndeterminate } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Epochs } from '../lib/epoch.ts';
import type { HolderStats } from '../lib/holders.ts';
import { createMemoryCache } from '../lib/memory-cache.ts';
import { type Span, traced } from '../lib/tracing.ts';
import { asWork, createSharedWork, epochOfWork, NEVER_ABORTED, withinMs } from '../lib/work.ts';
import { ABSENT_FRESH_MS, type CachePolicy, type Content, createEntry, type Entry, readEntry } from './entry.ts';
import { createLoads } from './loads.ts';
import type { Store } from './store.ts';

export interface Loaded<V> {
  readonly value: V;
  /** Default: the cache's own. Shorter for a value that should be reloaded soon. */
  readonly freshMs?: number;
  /** False for a value that must not be stored, nor replace a stored value. */
  readonly isStorable?: boolean;
}

export interface Cached<V> {
  readonly value: V;
  readonly outcome: CacheOutcome;
}

export interface GetOptions<V> {
  /** How long to wait for a reload before a stale value is returned; 0 returns it at once. */
  readonly softTimeoutMs: number;
  /** Returns false for a fresh value that must be treated as stale. Default: always true. */
  readonly isCurrent?: (value: V) => boolean;
  /**
   * Distinguishes loads of one key that return different values. A caller joins only a load with the same `loadId`.
   * Otherwise it starts a new load, and the earlier load's result is not kept. Default: all loads of a key are the
   * same.
   */
  readonly loadId?: string;
}

interface ReadThroughOptions<V> {
  readonly policy: CachePolicy<V>;
  readonly memoryTier: {
    readonly epochs: Pick<Epochs, 'current' | 'onEnd'>;
    /** Values count with the length of their JSON. */
    readonly maxBytes: number;
  };
  readonly storeTier: {
    readonly store: Store;
    /** Called for an invalid stored value. */
    readonly onRefused?: (key: string) => void;
  };
  readonly clock: Clock;
  /** For traces. */
  readonly name?: string;
}

type Load<V> = (previous: V | undefined) => Promise<Loaded<V>>;

const RETRY_FAILED_LOAD_MS = 60_000;

/**
 * A cache with two tiers, an LRU cache in memory and a store, and one load per key at a time. Within its grace, a stale value
 * is returned when its reload fails or exceeds the soft timeout. A load continues after its callers disconnect.
 */
export interface ReadThrough<V> {
  /**
   * Returns the value from a tier, or loads it.
   *
   * @throws AppError `channel_not_found` from the load, kept for 60 s; any other failure of the load when there is no
   * stale value to return
   */
  get(key: string, load: Load<V>, options: GetOptions<V>): Promise<Cached<V>>;
  /** Returns the cached value, fresh or stale, without loading one. */
  find(key: string): Promise<V | undefined>;
  /** Like `find`, with the cache outcome. @throws AppError `channel_not_found` if that is what is cached */
  peek(key: string): Promise<Cached<V> | undefined>;
  /** Reloads the value, or joins a current load with the same `loadId` (`GetOptions`). */
  refresh(key: string, load: Load<V>, loadId?: string): Promise<Cached<V>>;
  /** Stores what `load` returns for the cached value, fresh or stale. */
  put(key: string, load: Load<V>): Promise<void>;
  /** Changes the cached value, if there is one, without changing its age. */
  patch(key: string, change: (value: V) => V): Promise<void>;
  /** Removes from memory what the function returns true for. The store keeps it. */
  removeFromMemory(isRemoved: (key: string, value: V | undefined) => boolean): void;
  /** Makes the next request try a load that failed a moment ago. */
  forgetFailures(): void;
  stats(): { readonly memory: HolderStats & { readonly entries: number }; readonly loading: HolderStats };
}

export function createReadThrough<V>(options: ReadThroughOptions<V>): ReadThrough<V> {
  const { policy, memoryTier, storeTier, clock, name = 'values' } = options;
  const { epochs, maxBytes } = memoryTier;
  const { store, onRefused } = storeTier;
  const { freshMs, graceMs, leadsTo, retryFailedLoadMs = RETRY_FAILED_LOAD_MS } = policy;
  /** Whether another instance's value may replace an outdated one of this one's memory. */
  const isOthersWanted = store.isShared === true && policy.prefersOwn !== true;
  const memory = createMemoryCache<Entry<V>>({
    epochs,
    maxBytes,
    sizeOf: (entry) => entry.bytes,
  });
  const loads = createLoads<Entry<V>>();
  const storeReads = createSharedWork<Entry<V> | undefined>();
  let failuresSince = Number.NEGATIVE_INFINITY;

  const work = <T>(run: () => T): T => asWork(epochs.current(), run);

  function findHeld(key: string): Entry<V> | undefined {
    const held = memory.get(key);
    return held !== undefined && isServable(held, clock) ? held : undefined;
  }

  async function findStored(key: string): Promise<Entry<V> | undefined> {
    const stored = await store.get(key);
    const entry = stored && readEntry(clock, key, stored, policy);
    if (stored !== undefined && entry === undefined) onRefused?.(key);
    // A load may have finished during this read.
    const held = memory.get(key);
    const isNewest = entry !== undefined && (held === undefined || held.storedAtMs < entry.storedAtMs);
    if (!isNewest || !isServable(entry, clock)) return findHeld(key);
    memory.set(key, entry);
    return entry;
  }

  async function find(key: string): Promise<Entry<V> | undefined> {
    return findHeld(key) ?? (await findStored(key));
  }

  /** Keeps the content unless a newer load has begun. A changed value passes its `storedAtMs`: it keeps its age. */
  function keep(
    key: string,
    content: Content<V>,
    { freshMs: freshForMs = freshMs, isStorable = true, storedAtMs = clock.now(), isLatest = true },
  ): Entry<V> {
    // `stored-kinds.ts` recognizes absences by the beginning of the text.
    const text = JSON.stringify({ ...content, freshMs: freshForMs });
    const form = { content, freshMs: freshForMs, storedAtMs, graceMs };
    const entry = createEntry(clock, { ...form, isStored: isStorable, characters: key.length + text.length });
    if (!isLatest || !memory.set(key, entry)) return { ...entry, isStored: false };
    const keptMs = entry.maxAgeMs - (clock.now() - storedAtMs);
    const channelId = 'value' in content ? leadsTo?.(content.value) : undefined;
    if (isStorable) void store.set(key, { value: text, storedAtMs, leadsTo: channelId }, keptMs);
    return entry;
  }

  function startLoad(key: string, load: Load<V>, loadId: string, previous: Entry<V> | undefined): Promise<Entry<V>> {
    return loads.start(key, loadId, async (isLatest) => {
      try {
        const { value, ...loaded } = await load(valueIn(previous));
        return keep(key, { value }, { ...loaded, isLatest: isLatest() });
      } catch (error) {
        if (error instanceof AppError && error.code === 'channel_not_found') {
          return keep(key, { absent: error.message }, { freshMs: ABSENT_FRESH_MS, isLatest: isLatest() });
        }
        // A load that was given up has not failed.
        if (previous !== undefined && errorCodeOf(error) !== 'request_timeout') {
          previous.lastFailure = { loadId, atMs: clock.monotonic(), epoch: epochOfWork() };
        }
        throw error;
      }
    });
  }

  function response(entry: Entry<V>, outcome: Omit<CacheOutcome, 'ttlMs' | 'isStored'>): Cached<V> {
    const leftMs = freshLeftMs(entry, clock);
    // A value that is not current is stale at any age.
    const ttlMs = outcome.kind === 'stale' ? Math.min(leftMs, -1_000) : leftMs;
    const isStored = entry.isStored && (outcome.kind === 'miss' || outcome.kind === 'refreshed');
    const full = { ...outcome, ttlMs, isStored };
    if ('value' in entry.content) return { value: entry.content.value, outcome: full };
    throw new AppError('channel_not_found', entry.content.absent, { validForMs: Math.max(ttlMs, 0), outcome: full });
  }

  function isFresh(entry: Entry<V>, isCurrent?: (value: V) => boolean): boolean {
    if (freshLeftMs(entry, clock) <= 0) return false;
    return isCurrent === undefined || 'absent' in entry.content || isCurrent(entry.content.value);
  }

  async function lookUp(key: string, load: Load<V>, options: GetOptions<V>): Promise<Cached<V>> {
    const { softTimeoutMs, isCurrent, loadId = '' } = options;
    // Before anything is awaited: a load that ends meanwhile has the newest value.
    const joined = loads.find(key, loadId);
    const isWanted = (entry: Entry<V>) => isFresh(entry, isCurrent);
    const found = await findInTiers(key, isWanted, joined !== undefined);
    if (found !== undefined && isWanted(found)) return response(found, HIT);
    const running = joined ?? loads.find(key, loadId);
    const isCollapsed = running !== undefined;
    // An absence has no grace.
    const stale = found !== undefined && 'value' in found.content ? found : undefined;
    if (stale !== undefined && !isCollapsed && hasJustFailed(stale, loadId)) {
      return response(stale, { ...STALE, reason: 'upstream failed' });
    }
    const loading = running ?? startLoad(key, load, loadId, stale);
    if (stale === undefined) return response(await loading, { kind: 'miss', isCollapsed });
    return withinSoftTimeout(loading, softTimeoutMs, stale, isCollapsed);
  }

  /**
   * The entry of the memory tier, or else of the store tier. Another instance may have replaced one that is not wanted, even if
   * this instance cannot, or its request does not wait for a load.
   */
  async function findInTiers(
    key: string,
    isWanted: (entry: Entry<V>) => boolean,
    isLoading: boolean,
  ): Promise<Entry<V> | undefined> {
    const held = findHeld(key);
    if (held === undefined) return findStored(key);
    if (isWanted(held) || !isOthersWanted || isLoading) return held;
    // The store has its own time limit.
    return (await storeReads.run(key, NEVER_ABORTED, () => findStored(key))) ?? held;
  }

  /** The loaded value, or the stale one when the load takes longer or cannot tell. */
  async function withinSoftTimeout(
    loading: Promise<Entry<V>>,
    softTimeoutMs: number,
    stale: Entry<V>,
    isCollapsed: boolean,
  ): Promise<Cached<V>> {
    try {
      const loaded = await withinMs(clock, loading, softTimeoutMs);
      if (loaded === undefined) return response(stale, { ...STALE, isCollapsed, reason: 'refresh under way' });
      return response(loaded, { kind: 'refreshed', isCollapsed });
    } catch (error) {
      if (!isIndeterminate(error)) throw error;
      return response(stale, { ...STALE, isCollapsed, reason: error.code });
    }
  }

  function hasJustFailed({ lastFailure }: Entry<V>, loadId: string): boolean {
    if (lastFailure?.loadId !== loadId || lastFailure.atMs <= failuresSince) return false;
    // A purge may have fixed it.
    return !lastFailure.epoch.hasEnded && clock.monotonic() - lastFailure.atMs < retryFailedLoadMs;
  }

  async function refresh(key: string, load: Load<V>, loadId: string): Promise<Cached<V>> {
    const running = loads.find(key, loadId);
    const previous = running === undefined ? await find(key) : undefined;
    const result = running ?? loads.find(key, loadId) ?? startLoad(key, load, loadId, previous);
    return response(await result, { kind: 'refreshed', isCollapsed: running !== undefined });
  }

  return {
    async get(key, load, options) {
      const held = findHeld(key);
      // There is nothing to wait for or to trace.
      if (held !== undefined && isFresh(held, options.isCurrent)) return response(held, HIT);
      return work(() => tracedLookUp(name, () => lookUp(key, load, options)));
    },

    find: (key) => work(async () => valueIn(await find(key))),

    peek: (key) =>
      work(async () => {
        const entry = await find(key);
        return entry && response(entry, freshLeftMs(entry, clock) > 0 ? HIT : STALE);
      }),

    refresh: (key, load, loadId = '') => work(() => tracedLookUp(name, () => refresh(key, load, loadId))),

    put: (key, load) =>
      work(async () => {
        const { value, ...loaded } = await load(valueIn(await find(key)));
        keep(key, { value }, loaded);
      }),

    patch: (key, change) =>
      work(async () => {
        // A current load would overwrite the change.
        await loads.ended(key);
        const entry = await find(key);
        if (entry === undefined || 'absent' in entry.content) return;
        const kept = { freshMs: entry.freshMs, storedAtMs: entry.storedAtMs, isStorable: entry.isStored };
        keep(key, { value: change(entry.content.value) }, kept);
      }),

    removeFromMemory(isRemoved) {
      memory.removeWhere((key, { content }) => isRemoved(key, 'value' in content ? content.value : undefined));
    },

    forgetFailures() {
      failuresSince = clock.monotonic();
    },

    stats: () => ({ memory: memory.stats(), loading: loads.stats() }),
  };
}

const HIT = { kind: 'hit', isCollapsed: false } as const;
const STALE = { kind: 'stale', isCollapsed: false } as const;

/**
 * The larger age of both clocks: the monotonic clock stops while a machine is suspended, and the wall clock may be set
 * back. A wall clock that is set forward only causes a reload.
 */
function ageOf({ bornAtMs, storedAtMs }: Entry<unknown>, clock: Clock): number {
  return Math.max(clock.monotonic() - bornAtMs, clock.now() - storedAtMs);
}

/** The remaining freshness; negative for a stale entry. */
function freshLeftMs(entry: Entry<unknown>, clock: Clock): number {
  return entry.freshMs - ageOf(entry, clock);
}

function isServable(entry: Entry<unknown>, clock: Clock): boolean {
  return ageOf(entry, clock) < entry.maxAgeMs;
}

/** Runs a lookup as a span, with its outcome as attributes. */
function tracedLookUp<V>(name: string, lookUp: () => Promise<Cached<V>>): Promise<Cached<V>> {
  return traced({ name: `look up ${name}` }, async (span) => {
    try {
      const found = await lookUp();
      setOutcome(span, found.outcome);
      return found;
    } catch (error) {
      if (error instanceof AppError && error.outcome !== undefined) setOutcome(span, error.outcome);
      throw error;
    }
  });
}

function setOutcome(span: Span | undefined, { kind, isCollapsed, reason }: CacheOutcome): void {
  span?.setAttributes({
    'pennant.cache.outcome': kind,
    'pennant.cache.collapsed': isCollapsed,
    'pennant.cache.reason': reason,
  });
}

function valueIn<V>(entry: Entry<V> | undefined): V | undefined {
  return entry !== undefined && 'value' in entry.content ? entry.content.value : undefined;
}
