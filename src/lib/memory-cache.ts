import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { changeBeforeWork, latestChange } from './work.ts';

export type MemoryCache<V> = ReturnType<typeof createMemoryCache<V, unknown>>;

/** The changes so far (`nextChange`), each of the caller's type. */
interface ChangeLog<Change> {
  /** True when a change with a higher number matches. */
  hasSince(number: number, fits: (change: Change) => boolean): boolean;
  /** Adds a function that frees the memory of removed values. */
  addSweep(sweep: () => Promise<void>): void;
}

export interface MemoryCacheOptions<V, Change> {
  readonly changes: ChangeLog<Change>;
  readonly maxBytes: number;
  /** Size of key, value and overhead. */
  readonly sizeOf: (value: V, key: string) => number;
  readonly concerns: (change: Change, key: string, value: V) => boolean;
}

interface Held<V> {
  readonly value: V;
  /** No change up to this number concerns it. */
  checked: number;
}

/** Checking them takes about a millisecond. */
const KEYS_PER_STEP = 1_000;

/** An LRU cache in memory. It neither keeps nor returns values that a change has removed. */
export function createMemoryCache<V, Change>(options: MemoryCacheOptions<V, Change>) {
  const { changes, maxBytes, sizeOf, concerns } = options;
  const memory = new LRUCache<string, Held<V>>({
    // To the library, 0 means "no limit".
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: ({ value }, key) => sizeOf(value, key),
  });

  function isRemoved(key: string, value: V, since: number): boolean {
    return changes.hasSince(since, (change) => concerns(change, key, value));
  }

  /** Returns the value unless a change has removed it; then the entry is deleted. */
  function checkedValue(key: string, held: Held<V>): V | undefined {
    const latest = latestChange();
    if (held.checked === latest) return held.value;
    if (isRemoved(key, held.value, held.checked)) {
      memory.delete(key);
      return undefined;
    }
    held.checked = latest;
    return held.value;
  }

  changes.addSweep(async () => {
    const keys = [...memory.keys()];
    for (const [at, key] of keys.entries()) {
      if (at % KEYS_PER_STEP === KEYS_PER_STEP - 1) await setImmediate();
      const held = memory.peek(key);
      if (held !== undefined) checkedValue(key, held);
    }
  });

  return {
    get(key: string): V | undefined {
      const held = memory.get(key);
      return held && checkedValue(key, held);
    },
    /** Returns false, and does not keep the value, if a change that came after the work began concerns it. */
    set(key: string, value: V): boolean {
      if (isRemoved(key, value, changeBeforeWork())) return false;
      memory.set(compactCopy(key), { value, checked: latestChange() });
      return true;
    },
    stats: () => ({ entries: memory.size, bytes: memory.calculatedSize, maxBytes }),
  };
}

/**
 * A copy of the text, for texts that outlive their request. V8 keeps a whole header in memory for a substring of it,
 * which an attacker could use to fill the memory.
 */
export function compactCopy(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

/** The size that the rest of a network packet or of a message may have. */
const MAX_UNUSED_BYTES = 4_096;

/** Copies the bytes if they are a small part of a larger buffer, which would be kept in memory with them. */
export function compactBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength - bytes.length <= MAX_UNUSED_BYTES) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
