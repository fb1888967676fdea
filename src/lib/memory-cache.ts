import { LRUCache } from 'lru-cache';

interface MemoryCacheOptions<V> {
  readonly maxBytes: number;
  /** Size of key, value and overhead. */
  readonly sizeOf: (value: V, key: string) => number;
}

/** An LRU cache in memory. */
export function createMemoryCache<V extends object | string>({ maxBytes, sizeOf }: MemoryCacheOptions<V>) {
  const memory = new LRUCache<string, V>({
    // To the library, 0 means "no limit".
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: sizeOf,
  });

  return {
    get: (key: string) => memory.get(key),
    set: (key: string, value: V) => void memory.set(compactCopy(key), value),
    /** Removes the entries that the function returns true for. */
    removeWhere(isRemoved: (key: string, value: V) => boolean): void {
      for (const [key, value] of memory.entries()) if (isRemoved(key, value)) memory.delete(key);
    },
    clear: () => memory.clear(),
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
