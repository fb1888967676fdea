import { setImmediate } from 'node:timers/promises';
import type { Epoch } from '../lib/epoch.ts';
import type { HolderStats } from '../lib/holders.ts';
import { compactBytes, createMemoryCache, type MemoryCache } from '../lib/memory-cache.ts';
import type { Runtime } from '../lib/runtime.ts';
import { asWork, epochOfWork } from '../lib/work.ts';
import { channelOfImage } from '../store/keys.ts';
import type { FileStore } from './disk-files.ts';
import type { FileClass } from './file-names.ts';

export interface ImageStoreOptions {
  readonly files: FileStore;
  readonly maxMemoryBytes: number;
  /** Limit of the images that wait to be written. Default: 72 MiB. */
  readonly maxWriteBytes?: number;
  readonly runtime: Pick<Runtime, 'epochs' | 'health' | 'holders' | 'metrics'>;
}

/** The share of custom sizes in the memory for images: they must not displace the popular images. */
const CUSTOM_SHARE = 0.25;
/** Copying more to another process would block the event loop for milliseconds. */
const MAX_COPIED_BYTES = 1024 * 1024;
/** Memory of the buffer's objects and of the cache's lists (measured; a test compares). */
const ENTRY_OVERHEAD_BYTES = 650;
/**
 * Pending writes must not fill the memory while a disk hangs. The largest image has room: a PNG with sides of `MAX_SIDE_PX`
 * and 4 bytes per pixel, which noise keeps from becoming smaller, has a little more than 64 MiB.
 */
const DEFAULT_MAX_WRITE_BYTES = 72 * 1024 * 1024;

interface PendingWrite {
  readonly bytes: Buffer;
  readonly fileClass: FileClass;
  /** In which the work began that made the bytes. */
  readonly epoch: Epoch;
  /** The end of an earlier write of the same key. */
  readonly earlier: Promise<void> | undefined;
}

/** Originals and encoded images by key: in memory, in front of files on this instance's disk. */
export interface ImageStore {
  get(key: string, fileClass: FileClass): Promise<Buffer | undefined>;
  /**
   * Returns at once; the file is written in the background. If a write fails, or is skipped because the disk is too
   * slow, the image is encoded again later. Does nothing if the epoch in which the current work began has ended.
   */
  put(key: string, bytes: Buffer, fileClass: FileClass): void;
  /** For another process: the image's file, or its bytes if they are few or there is no file. */
  findForReading(key: string): Promise<{ readonly path: string } | { readonly bytes: Buffer } | undefined>;
  /**
   * Removes the images of these channels from disk and memory. Rejects when one cannot be removed. The caller ends the epoch
   * before it, so that no more of them are kept.
   *
   * @returns the number of the removed files and their disk usage
   */
  erase(channelIds: readonly string[] | 'all'): Promise<{ readonly files: number; readonly bytes: number }>;
  /** `disk` counts files and blocks. */
  stats(): Readonly<Record<'disk' | 'memory' | 'writes', HolderStats>>;
  /** Waits for pending writes. From then on no file is written. */
  close(): Promise<void>;
}

/** An image store over these files. */
export function createImageStore(options: ImageStoreOptions): ImageStore {
  const { files, maxMemoryBytes, maxWriteBytes = DEFAULT_MAX_WRITE_BYTES } = options;
  const { epochs, health, holders, metrics } = options.runtime;
  const memory: Record<FileClass, MemoryCache<Buffer>> = {
    plain: createMemory(1 - CUSTOM_SHARE),
    custom: createMemory(CUSTOM_SHARE),
  };
  const writing = new Map<string, PendingWrite & { readonly done: Promise<void> }>();
  let writingBytes = 0;
  /** What was read from disk during an erasure is not kept in memory. */
  let erasures = 0;
  let isClosed = false;

  function createMemory(share: number): MemoryCache<Buffer> {
    // The key contains the digest of the original, so that an image cannot become old.
    return createMemoryCache({ maxBytes: maxMemoryBytes * share, sizeOf });
  }

  function report(error?: unknown): void {
    health.report('images', error === undefined ? null : 'cannot be stored', error);
  }

  async function read<T>(run: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      report(error);
      return undefined;
    }
  }

  function inMemory(key: string): Buffer | undefined {
    const held = memory.plain.get(key) ?? memory.custom.get(key);
    if (held !== undefined) return held;
    const pending = writing.get(key);
    return pending === undefined || pending.epoch.hasEnded ? undefined : pending.bytes;
  }

  async function write(key: string, { bytes, epoch, fileClass, earlier }: PendingWrite): Promise<void> {
    // The response is sent first.
    await setImmediate();
    await earlier;
    try {
      if (!epoch.hasEnded) await files.set(key, bytes, fileClass);
      report();
    } catch (error) {
      report(error);
    } finally {
      writingBytes -= sizeOf(bytes, key);
    }
  }

  function keep(key: string, image: Buffer, fileClass: FileClass): void {
    const bytes = compactBytes(image);
    if (!memory[fileClass].set(key, bytes)) return;
    const earlier = writing.get(key);
    // The key determines the bytes, but an earlier epoch's are not written.
    const isBeingWritten = earlier !== undefined && !earlier.epoch.hasEnded;
    if (isClosed || isBeingWritten || writingBytes + sizeOf(bytes, key) > maxWriteBytes) return;
    writingBytes += sizeOf(bytes, key);
    const pending = { bytes, epoch: epochOfWork(), fileClass, earlier: earlier?.done };
    const done = write(key, pending).finally(() => {
      if (writing.get(key)?.done === done) writing.delete(key);
    });
    writing.set(key, { ...pending, done });
  }

  async function find(key: string, fileClass: FileClass): Promise<Buffer | undefined> {
    const before = erasures;
    const bytes = await read(() => files.get(key));
    if (bytes !== undefined && before === erasures) memory[fileClass].set(key, bytes);
    // The image may have been stored meanwhile.
    return bytes ?? inMemory(key);
  }

  function stats() {
    const [plain, custom] = [memory.plain.stats(), memory.custom.stats()];
    return {
      disk: files.stats(),
      memory: { entries: plain.entries + custom.entries, bytes: plain.bytes + custom.bytes, maxBytes: maxMemoryBytes },
      writes: { entries: writing.size, bytes: writingBytes, maxBytes: maxWriteBytes },
    };
  }

  holders.add('images on disk', () => stats().disk);
  holders.add('images in memory', () => stats().memory);
  holders.add('images being written', () => stats().writes);
  metrics.addGauge({
    name: 'pennant_image_store_bytes',
    help: 'Bytes of images kept.',
    label: 'kind',
    read() {
      const { disk, memory } = stats();
      return { plain: disk.plainBytes, custom: disk.customBytes, memory: memory.bytes };
    },
  });

  return {
    get: (key, fileClass) => asWork(epochs.current(), async () => inMemory(key) ?? (await find(key, fileClass))),

    put: (key, bytes, fileClass) => asWork(epochs.current(), () => keep(key, bytes, fileClass)),

    async findForReading(key) {
      const pending = writing.get(key);
      if (pending !== undefined && pending.bytes.length <= MAX_COPIED_BYTES) return { bytes: pending.bytes };
      await pending?.done;
      const path = await read(() => files.findPath(key));
      if (path !== undefined) return { path };
      const bytes = inMemory(key);
      return bytes && { bytes };
    },

    async erase(channelIds) {
      // A file that is being written would reappear after its removal.
      await Promise.all([...writing.values()].map(({ done }) => done));
      try {
        return await files.erase(channelIds);
      } finally {
        erasures += 1;
        const ids = channelIds === 'all' ? undefined : new Set(channelIds);
        const isErased = (key: string) => ids === undefined || ids.has(channelOfImage(key));
        for (const images of Object.values(memory)) images.removeWhere(isErased);
      }
    },

    stats,

    async close() {
      isClosed = true;
      await Promise.all([...writing.values()].map(({ done }) => done));
      await files.close();
    },
  };
}

function sizeOf(bytes: Buffer, key: string): number {
  return ENTRY_OVERHEAD_BYTES + key.length + bytes.length;
}
