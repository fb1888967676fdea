import { compactBytes, createMemoryCache } from '../lib/memory-cache.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createMatcher, type Removal } from './removal.ts';
import { type Rows, USE_RECORDED_MS } from './rows.ts';

/** How long an image that nobody uses is kept. */
const UNUSED_MS = 30 * 24 * 3_600_000;
/** Memory of a buffer's objects and of the cache's lists (measured; a test compares). */
const MEMORY_OVERHEAD_BYTES = 650;

/** An image of a channel. The key contains the channel's ID, and determines the bytes. */
export interface ImageId {
  readonly key: string;
  /** Originals are evicted from the disk after all others, and are in memory only if they cannot be stored. */
  readonly isOriginal: boolean;
}

interface ImageInMemory {
  readonly bytes: Buffer;
  /** Monotonic. */
  readonly keptAtMs: number;
}

interface ImageStoreOptions {
  readonly rows: Pick<Rows, 'get' | 'put'>;
  readonly maxMemoryBytes: number;
  readonly runtime: Pick<Runtime, 'clock' | 'metrics'>;
}

export type ImageStore = ReturnType<typeof createImageStore>;

/**
 * Encoded images and originals: in memory, in front of rows of the cache file. The least recently used is evicted first. An image
 * over 6 MiB is only in memory.
 */
export function createImageStore({ rows, maxMemoryBytes, runtime }: ImageStoreOptions) {
  const { clock, metrics } = runtime;
  const memory = createMemoryCache<ImageInMemory>({
    maxBytes: maxMemoryBytes,
    sizeOf: ({ bytes }, key) => MEMORY_OVERHEAD_BYTES + key.length + bytes.length,
  });
  addBoundGauges(metrics, 'pennant_images_in_memory', 'images in memory', memory.stats);

  function keepInMemory(key: string, bytes: Buffer): void {
    memory.set(key, { bytes: compactBytes(bytes), keptAtMs: clock.monotonic() });
  }

  return {
    async get({ key, isOriginal }: ImageId): Promise<Buffer | undefined> {
      const kept = memory.get(key);
      if (kept !== undefined && clock.monotonic() - kept.keptAtMs < USE_RECORDED_MS) return kept.bytes;
      // Without this read, the disk would evict the images that are used most, because they come from memory.
      const bytes = rows.get(key, UNUSED_MS) ?? kept?.bytes;
      if (bytes !== undefined && !isOriginal) keepInMemory(key, bytes);
      return bytes;
    },

    put({ key, isOriginal }: ImageId, bytes: Buffer): void {
      const isOnDisk = rows.put({ key, share: 'images', isOriginal, content: bytes, ttlMs: UNUSED_MS });
      if (!isOnDisk || !isOriginal) keepInMemory(key, bytes);
    },

    /** Removes images from memory. The disk does not change. */
    forget(removal: Removal): void {
      const { matches } = createMatcher(removal);
      memory.removeWhere((key) => matches(key, undefined));
    },
  };
}
