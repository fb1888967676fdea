import { compactBytes, createMemoryCache } from '../lib/memory-cache.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import { type ImageTable, USE_RECORDED_MS } from './image-table.ts';

/** An original of a channel's image. `digest`: the first 32 hex digits of the SHA-256 of its bytes. */
export interface OriginalId {
  readonly channelId: string;
  readonly digest: string;
}

/**
 * Encoded images in memory, in front of those on the disk. An original is in memory only if it cannot be stored. Images over 6 MiB
 * are not stored.
 */
export interface ImageStore {
  /** @param key of the image, which determines its bytes */
  get(channelId: string, key: string): Promise<Buffer | undefined>;
  /** Stores an encoded image. */
  put(channelId: string, key: string, bytes: Buffer): void;
  getOriginal(id: OriginalId): Promise<Buffer | undefined>;
  putOriginal(id: OriginalId, bytes: Buffer): void;
  /**
   * Removes the images and originals of these channels.
   *
   * @returns the number of those on the disk
   * @throws Error when one cannot be removed from the disk
   */
  erase(channelIds: readonly string[]): Promise<number>;
}

interface ImageStoreOptions {
  readonly table: ImageTable;
  readonly maxMemoryBytes: number;
  readonly runtime: Pick<Runtime, 'clock' | 'metrics'>;
}

/** Memory of the buffer's objects and of the cache's lists (measured; a test compares). */
const ENTRY_OVERHEAD_BYTES = 650;

interface ImageInMemory {
  readonly channelId: string;
  readonly bytes: Buffer;
  /** When its use was last recorded on the disk. Monotonic. */
  recordedAtMs: number;
}

export function createImageStore({ table, maxMemoryBytes, runtime }: ImageStoreOptions): ImageStore {
  const { clock, metrics } = runtime;
  const memory = createMemoryCache<ImageInMemory>({
    maxBytes: maxMemoryBytes,
    sizeOf: ({ bytes }, key) => ENTRY_OVERHEAD_BYTES + key.length + bytes.length,
  });

  function keepInMemory(channelId: string, key: string, bytes: Buffer): void {
    memory.set(key, { channelId, bytes: compactBytes(bytes), recordedAtMs: clock.monotonic() });
  }

  addBoundGauges(metrics, 'pennant_images_on_disk', 'images on disk', table.usage);
  addBoundGauges(metrics, 'pennant_images_in_memory', 'images in memory', memory.stats);

  return {
    async get(channelId, key) {
      const kept = memory.get(key);
      if (kept === undefined) {
        const bytes = table.get(key);
        if (bytes !== undefined) keepInMemory(channelId, key, bytes);
        return bytes;
      }
      // Without this, the disk would evict the images that are used most, because they are read from memory.
      if (clock.monotonic() - kept.recordedAtMs >= USE_RECORDED_MS) {
        kept.recordedAtMs = clock.monotonic();
        table.noteUse(key);
      }
      return kept.bytes;
    },

    put(channelId, key, bytes) {
      keepInMemory(channelId, key, bytes);
      table.put({ channelId, key, isOriginal: false }, bytes);
    },

    async getOriginal(id) {
      const key = keyOf(id);
      return table.get(key) ?? memory.get(key)?.bytes;
    },

    putOriginal(id, bytes) {
      const key = keyOf(id);
      if (!table.put({ channelId: id.channelId, key, isOriginal: true }, bytes)) keepInMemory(id.channelId, key, bytes);
    },

    async erase(channelIds) {
      const ids = new Set(channelIds);
      try {
        return await table.erase(channelIds);
      } finally {
        memory.removeWhere((_, { channelId }) => ids.has(channelId));
      }
    },
  };
}

function keyOf({ channelId, digest }: OriginalId): string {
  return `original/${channelId}/${digest}`;
}
