import { readFile } from 'node:fs/promises';
import { compactBytes, createMemoryCache } from '../lib/memory-cache.ts';
import { addBoundGauges } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import { type ImageTable, type OriginalId, originalName, USE_RECORDED_MS } from './image-table.ts';
import { digestOf } from './keys.ts';

/** Encoded images in memory, in front of those on the disk. Originals are in memory only if they cannot be stored. */
export interface ImageStore {
  /** @param key of the image, which determines its bytes */
  get(channelId: string, key: string): Promise<Buffer | undefined>;
  /** Stores an encoded image. One over 1 MiB is only in memory. */
  put(channelId: string, key: string, bytes: Buffer): void;
  /** `undefined` also for an original that is damaged, which is removed. */
  getOriginal(id: OriginalId): Promise<Buffer | undefined>;
  putOriginal(id: OriginalId, bytes: Buffer): Promise<void>;
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
    memory.set(key, { channelId, bytes, recordedAtMs: clock.monotonic() });
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

    put(channelId, key, image) {
      const bytes = compactBytes(image);
      keepInMemory(channelId, key, bytes);
      table.put(channelId, key, bytes);
    },

    async getOriginal(id) {
      const path = table.findOriginal(id);
      if (path === undefined) return memory.get(originalName(id))?.bytes;
      const bytes = await readFile(path).catch(() => undefined);
      if (bytes !== undefined && (await digestOf(bytes)) === id.digest) return bytes;
      table.discardOriginal(id);
      return undefined;
    },

    async putOriginal(id, bytes) {
      if ((await table.putOriginal(id, bytes)) === undefined) {
        keepInMemory(id.channelId, originalName(id), compactBytes(bytes));
      }
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
