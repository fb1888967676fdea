import { setImmediate } from 'node:timers/promises';
import { Gauge } from '@prometheus-io/client';
import { responseWithinMs } from '../lib/deadlines.ts';
import { compactBytes, createMemoryCache } from '../lib/memory-cache.ts';
import { addBoundGauges, type BoundedStats } from '../lib/metrics.ts';
import type { Runtime } from '../lib/runtime.ts';
import type { DiskImages } from './disk-images.ts';
import { channelOfImage } from './image-keys.ts';
import type { Erased } from './image-worker.ts';

/** A read of a stored image. After this time it counts as absent. */
export const IMAGE_READ_MS = 2_000;

interface ImageStoreOptions {
  readonly disk: DiskImages;
  readonly maxMemoryBytes: number;
  /** Limit of the images that wait to be written. Default: 72 MiB. */
  readonly maxWriteBytes?: number;
  readonly runtime: Pick<Runtime, 'clock' | 'health' | 'metrics'>;
}

/** Copying more to another process would block the event loop for milliseconds. */
const MAX_COPIED_BYTES = 1024 * 1024;
/** Memory of the buffer's objects and of the cache's lists (measured; a test compares). */
const ENTRY_OVERHEAD_BYTES = 650;
/**
 * Pending writes must not fill the memory while a disk hangs. The largest image must have room: a PNG of noise with sides of
 * `MAX_SIDE_PX` and 4 bytes per pixel has a little more than 64 MiB.
 */
const DEFAULT_MAX_WRITE_BYTES = 72 * 1024 * 1024;
/** How often a use from memory is noted on the disk. A little longer than the hour in which the disk records one use. */
const USE_NOTED_MS = 61 * 60_000;

interface HeldImage {
  readonly bytes: Buffer;
  /** When the disk last noted a use. Monotonic. */
  notedAtMs: number;
}

interface PendingWrite {
  readonly bytes: Buffer;
  readonly done: Promise<void>;
}

/** Originals and encoded images by key: in memory, in front of this instance's disk. */
export interface ImageStore {
  get(key: string): Promise<Buffer | undefined>;
  /**
   * Returns at once; the image is written in the background. If a write fails, or is skipped because the disk is too
   * slow, the image is encoded again later.
   */
  put(key: string, bytes: Buffer): void;
  /** For another process: the path of an original, or its bytes if they are few or not on the disk yet. */
  findForReading(key: string): Promise<{ readonly path: string } | { readonly bytes: Buffer } | undefined>;
  /**
   * Removes the images of these channels from disk and memory. Rejects when one cannot be removed.
   *
   * @returns the number of the removed images and their bytes
   */
  erase(channelIds: readonly string[]): Promise<Erased>;
  /**
   * Does the work on the disk that is due once an hour (`DiskImages.tidy`). While the disk fails, tries it, so that its recovery
   * needs no image.
   */
  tidy(): Promise<void>;
  /** `disk` counts the pages and the files in use. */
  stats(): Readonly<Record<'disk' | 'memory' | 'writes', BoundedStats>>;
  /** Waits for pending writes. From then on no image is written. */
  close(): Promise<void>;
}

export function createImageStore(options: ImageStoreOptions): ImageStore {
  const { disk, maxMemoryBytes, maxWriteBytes = DEFAULT_MAX_WRITE_BYTES } = options;
  const { clock, health, metrics } = options.runtime;
  // The key contains the digest of the original, so that an image cannot become old.
  const memory = createMemoryCache<HeldImage>({
    maxBytes: maxMemoryBytes,
    sizeOf: ({ bytes }, key) => sizeOf(bytes, key),
  });
  const writing = new Map<string, PendingWrite>();
  let writingBytes = 0;
  /** The number of erasures. What was read from the disk during one is not kept in memory. */
  let erasures = 0;
  let isClosed = false;
  let isFailing = false;
  /** Writes that have succeeded. */
  let successes = 0;
  void disk.open().catch((error: unknown) => reportFailure(error, 0));

  function holdInMemory(key: string, bytes: Buffer): void {
    memory.set(key, { bytes, notedAtMs: clock.monotonic() });
  }

  /** @param since `successes` when the call began: a failure says nothing about the time after a later success */
  function reportFailure(error: unknown, since: number): void {
    if (since === successes) report(error);
  }

  function report(error?: unknown): void {
    isFailing = error !== undefined;
    if (!isFailing) successes += 1;
    health.report('images', error === undefined ? null : 'cannot be read or stored', error);
  }

  async function read<T>(run: () => Promise<T | undefined>): Promise<T | undefined> {
    const since = successes;
    try {
      return await responseWithinMs(clock, run(), IMAGE_READ_MS, 'the disk');
    } catch (error) {
      reportFailure(error, since);
      return undefined;
    }
  }

  function inMemory(key: string): Buffer | undefined {
    const held = memory.get(key);
    if (held !== undefined) {
      noteUse(key, held);
      return held.bytes;
    }
    return writing.get(key)?.bytes;
  }

  /** Without this, the disk would evict the images that are used most, because they are read from memory only. */
  function noteUse(key: string, held: HeldImage): void {
    const nowMs = clock.monotonic();
    if (nowMs - held.notedAtMs < USE_NOTED_MS) return;
    held.notedAtMs = nowMs;
    void read(() => disk.noteUse(key));
  }

  async function write(key: string, bytes: Buffer): Promise<void> {
    // Lets the response be sent first.
    await setImmediate();
    const since = successes;
    try {
      await disk.set(key, bytes);
      report();
    } catch (error) {
      reportFailure(error, since);
    } finally {
      writingBytes -= sizeOf(bytes, key);
    }
  }

  function keep(key: string, image: Buffer): void {
    const bytes = compactBytes(image);
    holdInMemory(key, bytes);
    // The key determines the bytes.
    if (isClosed || writing.has(key) || writingBytes + sizeOf(bytes, key) > maxWriteBytes) return;
    writingBytes += sizeOf(bytes, key);
    const done = write(key, bytes).finally(() => writing.delete(key));
    writing.set(key, { bytes, done });
  }

  async function find(key: string): Promise<Buffer | undefined> {
    const before = erasures;
    const bytes = await read(() => disk.get(key));
    if (bytes !== undefined && before === erasures) holdInMemory(key, bytes);
    // The image may have been stored meanwhile.
    return bytes ?? inMemory(key);
  }

  function stats() {
    return {
      disk: disk.usage(),
      memory: memory.stats(),
      writes: { entries: writing.size, bytes: writingBytes, maxBytes: maxWriteBytes },
    };
  }

  addBoundGauges(metrics, 'pennant_images_on_disk', 'images on disk', () => stats().disk);
  addBoundGauges(metrics, 'pennant_images_in_memory', 'images in memory', () => stats().memory);
  addBoundGauges(metrics, 'pennant_images_being_written', 'images being written', () => stats().writes);
  addBoundGauges(metrics, 'pennant_image_database_calls', 'calls to images.db', disk.calls);
  new Gauge({
    name: 'pennant_image_store_bytes',
    help: 'Bytes of images kept.',
    labelNames: ['kind'],
    registers: [metrics],
    collect() {
      this.set({ kind: 'disk' }, stats().disk.bytes);
      this.set({ kind: 'memory' }, stats().memory.bytes);
    },
  });

  return {
    get: async (key) => inMemory(key) ?? (await find(key)),

    put: keep,

    async findForReading(key) {
      const pending = writing.get(key);
      if (pending !== undefined && pending.bytes.length <= MAX_COPIED_BYTES) return { bytes: pending.bytes };
      const found = await read(async () => {
        await pending?.done;
        return disk.findForReading(key);
      });
      if (found !== undefined) return found;
      const bytes = inMemory(key);
      return bytes && { bytes };
    },

    async erase(channelIds) {
      try {
        return await disk.erase(channelIds);
      } finally {
        erasures += 1;
        const ids = new Set(channelIds);
        memory.removeWhere((key) => ids.has(channelOfImage(key)));
      }
    },

    async tidy() {
      try {
        await disk.tidy();
        if (!isFailing) return;
        await disk.tryToWrite();
        report();
      } catch (error) {
        report(error);
      }
    },

    stats,

    async close() {
      isClosed = true;
      await Promise.all([...writing.values()].map(({ done }) => done));
      await disk.close();
    },
  };
}

function sizeOf(bytes: Buffer, key: string): number {
  return ENTRY_OVERHEAD_BYTES + key.length + bytes.length;
}
