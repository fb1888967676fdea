import { LRUCache } from 'lru-cache';
import type { Epochs } from './epoch.ts';
import type { BoundedStats } from './metrics.ts';
import { epochOfWork } from './work.ts';

interface MemoryCacheOptions<V> {
  /** The end of an epoch empties the cache. Default: nothing does, for values that cannot become old. */
  readonly epochs?: Pick<Epochs, 'onEnd'>;
  readonly maxBytes: number;
  /** Size of key, value and overhead. */
  readonly sizeOf: (value: V, key: string) => number;
}

/** An LRU cache in memory. It keeps no results of work that began in an earlier epoch. */
export interface MemoryCache<V extends object | string> {
  get(key: string): V | undefined;
  /** Returns false, and does not keep the value, if the work began in an earlier epoch. */
  set(key: string, value: V): boolean;
  /** Removes the entries that the function returns true for. */
  removeWhere(isRemoved: (key: string, value: V) => boolean): void;
  stats(): Required<Pick<BoundedStats, 'entries' | 'bytes' | 'maxBytes'>>;
}

export function createMemoryCache<V extends object | string>(options: MemoryCacheOptions<V>): MemoryCache<V> {
  const { epochs, maxBytes, sizeOf } = options;
  const memory = new LRUCache<string, V>({
    // To the library, 0 means "no limit".
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: sizeOf,
  });
  epochs?.onEnd(() => memory.clear());

  return {
    get: (key) => memory.get(key),
    set(key, value) {
      if (epochOfWork().hasEnded) return false;
      memory.set(compactCopy(key), value);
      return true;
    },
    removeWhere(isRemoved) {
      for (const [key, value] of memory.entries()) if (isRemoved(key, value)) memory.delete(key);
    },
    stats: () => ({ entries: memory.size, bytes: memory.calculatedSize, maxBytes }),
  };
}

/** Bounds an `LRUCache` to a number of entries. Its own option `max` allocates memory for all of them at once. */
export function entryLimit(maxEntries: number) {
  return { maxSize: maxEntries, sizeCalculation: () => 1 };
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
