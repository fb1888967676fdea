import { LRUCache } from 'lru-cache';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { AppError, isCouldNotTell } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { currentSpan, type Span, traced } from '../lib/tracing/span.ts';
import { withinMs } from '../lib/within-ms.ts';
import type { Store } from './store.ts';
import { type Content, readStoredForm, writeStoredForm } from './stored-form.ts';

/** What a load brings. */
export interface Loaded<V> {
  readonly value: V;
  /** Shorter than the cache's own for a value that should be asked for again soon. */
  readonly freshMs?: number;
  /** False for a value that must not outlive the process or replace a stored one. */
  readonly isStorable?: boolean;
}

export interface Cached<V> {
  readonly value: V;
  readonly outcome: CacheOutcome;
}

export interface GetOptions {
  /** How long to wait for a new value where there is an old one; 0 serves the old one at once. */
  readonly staleWaitMs: number;
}

export interface LoadIdentity {
  /**
   * Tells loads of one key apart that bring different values. A caller joins only a load with the same text; otherwise
   * it starts its own, and what the earlier load brings is not kept. Default: all loads of a key are the same.
   */
  readonly loadId?: string;
}

export interface GetCurrentOptions<V> extends GetOptions, LoadIdentity {
  /** False for a fresh value that no longer fits what is asked for; it then counts as old. Default: all fit. */
  readonly isCurrent?: (value: V) => boolean;
}

export interface ReadThroughOptions<V> {
  /** What its values are, for traces. */
  readonly name?: string;
  /** Whether a stored value is one of this kind and belongs under the key; what is not counts as absent. */
  readonly isValue: (value: unknown, key: string) => value is V;
  /** Called for a stored value that does not fit. */
  readonly onRefused?: (key: string) => void;
  readonly store: Store;
  readonly clock: Clock;
  readonly freshMs: number;
  /** How long after it was loaded a value may be served when it cannot be loaded anew. */
  readonly staleMs: number;
  /** How long an old value is served after a load failed before the next one is tried. Default: a minute. */
  readonly retryFailedLoadMs?: number;
  /** Of the memory tier; values count with the length of their JSON. */
  readonly maxMemoryBytes: number;
}

export type Load<V> = (previous: V | undefined) => Promise<Loaded<V>>;

export interface ReadThrough<V> {
  /**
   * The value under the key: from memory, from the store, or loaded.
   *
   * @throws AppError `channel_not_found` from the load, kept for 60 s; any other failure of the load where no old value
   * may be served.
   */
  get(key: string, load: Load<V>, options: GetCurrentOptions<V>): Promise<Cached<V>>;
  /** The value that is there, however old, without loading one. */
  find(key: string): Promise<V | undefined>;
  /** Loads anew whatever is there, together with anyone who is loading already. */
  refresh(key: string, load: Load<V>, identity?: LoadIdentity): Promise<Cached<V>>;
  /** Keeps what `load` makes of the value that is there, which may be old. */
  put(key: string, load: Load<V>): Promise<void>;
  /** Changes the value under the key, if there is one, and leaves its age alone. */
  patch(key: string, change: (value: V) => V): Promise<void>;
  /** Drops from memory what fits; the store is the caller's. `value` is absent for "no such channel". */
  forget(isMeant: (key: string, value: V | undefined) => boolean): void;
  stats(): { entries: number; bytes: number; loading: number };
}

/** "No such channel" is true for a minute (docs/decisions.md). */
const ABSENT_FRESH_MS = 60_000;
const RETRY_FAILED_LOAD_MS = 60_000;
const ENTRY_OVERHEAD_BYTES = 400;
/** Another instance's clock may be ahead by this much: far more than time servers leave, far less than a value lasts. */
const MAX_CLOCK_SKEW_MS = 5_000;

interface Entry<V> {
  readonly content: Content<V>;
  /** Monotonic times: the wall clock may jump while the process runs. */
  readonly freshUntilMs: number;
  readonly staleUntilMs: number;
  readonly bytes: number;
  readonly isStored: boolean;
  lastFailure: { readonly loadId: string; readonly retryAtMs: number } | undefined;
}

interface PendingLoad<V> {
  readonly loadId: string;
  readonly result: Promise<Entry<V>>;
}

/**
 * Memory (LRU) over a store, with one load per key however many ask at once; an old value is served when a load fails
 * or takes too long. The load goes on when its callers have gone.
 */
export function createReadThrough<V>(options: ReadThroughOptions<V>): ReadThrough<V> {
  const { name = 'values', store, clock, freshMs, staleMs, isValue, onRefused } = options;
  const { retryFailedLoadMs = RETRY_FAILED_LOAD_MS } = options;
  const rules = { isValue, maxFreshMs: freshMs, maxAbsentFreshMs: ABSENT_FRESH_MS };
  const memory = new LRUCache<string, Entry<V>>({
    maxSize: options.maxMemoryBytes,
    sizeCalculation: (entry) => entry.bytes,
  });
  /** The last load of each key; an earlier one with another `loadId` may still be running. */
  const pending = new Map<string, PendingLoad<V>>();

  async function find(key: string): Promise<Entry<V> | undefined> {
    const inMemory = memory.get(key);
    if (inMemory !== undefined) return inMemory.staleUntilMs > clock.monotonic() ? inMemory : undefined;
    const stored = await store.get(key);
    if (stored === undefined) return undefined;
    const form = readStoredForm(stored.value, key, rules);
    if (form === undefined) {
      onRefused?.(key);
      return undefined;
    }
    const ageMs = clock.now() - stored.storedAtMs;
    // An entry from the future was written before the clock was set back: its age is unknown, so it counts as stale.
    const leftMs = ageMs < -MAX_CLOCK_SKEW_MS ? 0 : form.freshMs - Math.max(ageMs, 0);
    const entry = entryOf(form.content, leftMs, staleMs - Math.max(ageMs, 0), stored.value.length, true);
    if (entry.staleUntilMs <= clock.monotonic()) return undefined;
    // A load that finished meanwhile is newer than what the store had.
    const newer = memory.get(key);
    if (newer !== undefined) return newer;
    memory.set(key, entry);
    return entry;
  }

  function entryOf(
    content: Content<V>,
    freshForMs: number,
    staleForMs: number,
    length: number,
    isStored: boolean,
  ): Entry<V> {
    const now = clock.monotonic();
    return {
      content,
      freshUntilMs: now + freshForMs,
      staleUntilMs: now + Math.max(freshForMs, 'absent' in content ? 0 : staleForMs),
      bytes: ENTRY_OVERHEAD_BYTES + length * 2,
      isStored,
      lastFailure: undefined,
    };
  }

  function keep(key: string, content: Content<V>, freshForMs: number, isStorable: boolean): Entry<V> {
    const text = writeStoredForm({ content, freshMs: freshForMs });
    const entry = entryOf(content, freshForMs, staleMs, text.length, isStorable);
    memory.set(key, entry);
    if (isStorable) {
      void store.set(key, { value: text, storedAtMs: clock.now() }, 'absent' in content ? freshForMs : staleMs);
    }
    return entry;
  }

  function findPending(key: string, loadId: string): Promise<Entry<V>> | undefined {
    const found = pending.get(key);
    return found?.loadId === loadId ? found.result : undefined;
  }

  function startLoad(key: string, load: Load<V>, loadId: string, previous: Entry<V> | undefined): Promise<Entry<V>> {
    const started: PendingLoad<V> = { loadId, result: run() };
    pending.set(key, started);
    // Whoever waits sees the failure; a load that nobody waits for must not end the process.
    started.result.catch(() => undefined);
    return started.result;

    async function run(): Promise<Entry<V>> {
      // The first step must not run before the load is registered, or a second caller would start another.
      await Promise.resolve();
      try {
        const loaded = await load(previous === undefined ? undefined : contentValue(previous));
        return finish({ value: loaded.value }, loaded.freshMs ?? freshMs, loaded.isStorable ?? true);
      } catch (error) {
        if (error instanceof AppError && error.code === 'channel_not_found') {
          return finish({ absent: error.message }, ABSENT_FRESH_MS, true);
        }
        if (previous !== undefined) {
          previous.lastFailure = { loadId, retryAtMs: clock.monotonic() + retryFailedLoadMs };
        }
        throw error;
      } finally {
        if (pending.get(key) === started) pending.delete(key);
      }
    }

    function finish(content: Content<V>, freshForMs: number, isStorable: boolean): Entry<V> {
      if (pending.get(key) === started) return keep(key, content, freshForMs, isStorable);
      return entryOf(content, freshForMs, staleMs, 0, false);
    }
  }

  function answer(entry: Entry<V>, outcome: Omit<CacheOutcome, 'ttlMs' | 'isStored'>): Cached<V> {
    const ttlMs = entry.freshUntilMs - clock.monotonic();
    const isStored = entry.isStored && (outcome.kind === 'miss' || outcome.kind === 'refreshed');
    const full = { ...outcome, ttlMs, isStored };
    if ('value' in entry.content) return { value: entry.content.value, outcome: full };
    throw new AppError('channel_not_found', entry.content.absent, { validForMs: Math.max(ttlMs, 0), outcome: full });
  }

  async function get(key: string, load: Load<V>, options: GetCurrentOptions<V>): Promise<Cached<V>> {
    const { staleWaitMs, isCurrent = alwaysCurrent, loadId = '' } = options;
    const joined = findPending(key, loadId);
    const entry = await find(key);
    const now = clock.monotonic();
    if (entry !== undefined && entry.freshUntilMs > now && isUsable(entry, isCurrent)) return answer(entry, HIT);
    const running = joined ?? findPending(key, loadId);
    const old = entry !== undefined && 'value' in entry.content ? entry : undefined;
    if (old !== undefined && running === undefined && hasJustFailed(old, loadId)) {
      return answer(old, { ...STALE, reason: 'upstream failed' });
    }
    const result = running ?? startLoad(key, load, loadId, old);
    const isCollapsed = running !== undefined;
    if (old === undefined) return answer(await result, { kind: 'miss', isCollapsed });
    try {
      const loaded = await withinMs(result, staleWaitMs);
      if (loaded === undefined) return answer(old, { ...STALE, isCollapsed, reason: 'refresh under way' });
      return answer(loaded, { kind: 'refreshed', isCollapsed });
    } catch (error) {
      if (!isCouldNotTell(error)) throw error;
      return answer(old, { ...STALE, isCollapsed, reason: error.code });
    }
  }

  function hasJustFailed({ lastFailure }: Entry<V>, loadId: string): boolean {
    return lastFailure?.loadId === loadId && lastFailure.retryAtMs > clock.monotonic();
  }

  async function refresh(key: string, load: Load<V>, { loadId = '' }: LoadIdentity = {}): Promise<Cached<V>> {
    const running = findPending(key, loadId);
    const previous = running === undefined ? await find(key) : undefined;
    const result = running ?? findPending(key, loadId) ?? startLoad(key, load, loadId, previous);
    return answer(await result, { kind: 'refreshed', isCollapsed: running !== undefined });
  }

  /** What is in memory and fresh needs no span: there is nothing to wait for. */
  function isHeld(key: string, isCurrent: (value: V) => boolean = alwaysCurrent): boolean {
    const entry = memory.peek(key);
    return entry !== undefined && entry.freshUntilMs > clock.monotonic() && isUsable(entry, isCurrent);
  }

  return {
    get(key, load, options) {
      if (currentSpan() === undefined || isHeld(key, options.isCurrent)) return get(key, load, options);
      return tracedLookUp(name, () => get(key, load, options));
    },

    async find(key) {
      const entry = await find(key);
      return entry === undefined ? undefined : contentValue(entry);
    },

    refresh: (key, load, identity) => tracedLookUp(name, () => refresh(key, load, identity)),

    async put(key, load) {
      const entry = await find(key);
      const loaded = await load(entry === undefined ? undefined : contentValue(entry));
      keep(key, { value: loaded.value }, loaded.freshMs ?? freshMs, loaded.isStorable ?? true);
    },

    async patch(key, change) {
      // A load under way would overwrite the change.
      await pending.get(key)?.result.catch(() => undefined);
      const entry = await find(key);
      if (entry === undefined || 'absent' in entry.content) return;
      const leftMs = Math.max(entry.freshUntilMs - clock.monotonic(), 0);
      keep(key, { value: change(entry.content.value) }, leftMs, entry.isStored);
    },

    forget(isMeant) {
      const meant = [...memory.entries()].filter(([key, entry]) => isMeant(key, contentValue(entry)));
      for (const [key] of meant) memory.delete(key);
    },

    stats: () => ({ entries: memory.size, bytes: memory.calculatedSize, loading: pending.size }),
  };
}

function tracedLookUp<V>(name: string, lookUp: () => Promise<Cached<V>>): Promise<Cached<V>> {
  return traced({ name: `look up ${name}` }, async (span) => {
    try {
      const found = await lookUp();
      noteOutcome(span, found.outcome);
      return found;
    } catch (error) {
      if (error instanceof AppError && error.outcome !== undefined) noteOutcome(span, error.outcome);
      throw error;
    }
  });
}

function noteOutcome(span: Span | undefined, { kind, isCollapsed, reason }: CacheOutcome): void {
  span?.setAttributes({
    'pennant.cache.outcome': kind,
    'pennant.cache.collapsed': isCollapsed,
    'pennant.cache.reason': reason,
  });
}

const HIT = { kind: 'hit', isCollapsed: false } as const;
const STALE = { kind: 'stale', isCollapsed: false } as const;

function alwaysCurrent(): boolean {
  return true;
}

function isUsable<V>(entry: Entry<V>, isCurrent: (value: V) => boolean): boolean {
  return 'absent' in entry.content || isCurrent(entry.content.value);
}

function contentValue<V>(entry: Entry<V>): V | undefined {
  return 'value' in entry.content ? entry.content.value : undefined;
}
