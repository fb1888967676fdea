import { setImmediate } from 'node:timers/promises';
import type { HolderStats } from '../lib/holders.ts';
import { compactBytes, createMemoryCache, type MemoryCache } from '../lib/memory-cache.ts';
import type { Runtime } from '../lib/runtime.ts';
import { asWork, changeBeforeWork, latestChange } from '../lib/work.ts';
import { type Change, type Changes, concernsImage } from '../store/changes.ts';
import type { FileStore } from './disk-files.ts';
import type { FileClass } from './file-names.ts';

export interface ImageStoreOptions {
  readonly files: FileStore;
  readonly changes: Changes;
  readonly maxMemoryBytes: number;
  /** Limit of the images that wait to be written. Default: 64 MiB. */
  readonly maxWriteBytes?: number;
  readonly runtime: Pick<Runtime, 'health' | 'holders' | 'metrics'>;
}

/** The share of custom sizes in the memory for images: they must not displace the popular images. */
const CUSTOM_SHARE = 0.25;
/** Copying more to another process would block the event loop for milliseconds. */
const MAX_COPIED_BYTES = 1024 * 1024;
/** Memory of the buffer's objects and of the cache's lists (measured; a test compares). */
const ENTRY_OVERHEAD_BYTES = 650;
/** Pending writes must not fill the memory while a disk hangs. The largest original has 16 MiB. */
const DEFAULT_MAX_WRITE_BYTES = 64 * 1024 * 1024;

interface PendingWrite {
  readonly bytes: Buffer;
  readonly fileClass: FileClass;
  /** The number of the latest change when the work that made the bytes began. */
  readonly changeBefore: number;
  /** The end of an earlier write of the same key. */
  readonly earlier: Promise<void> | undefined;
}

/** Originals and encoded images by key: in memory, in front of files on this instance's disk. */
export interface ImageStore {
  get(key: string, fileClass: FileClass): Promise<Buffer | undefined>;
  /**
   * Returns at once; the file is written in the background. If a write fails, or is skipped because the disk is too
   * slow, the image is encoded again later. Does nothing if a change has removed the image since the current work began.
   */
  put(key: string, bytes: Buffer, fileClass: FileClass): void;
  /** For another process: the image's file, or its bytes if they are few or there is no file. */
  findForReading(key: string): Promise<{ readonly path: string } | { readonly bytes: Buffer } | undefined>;
  /**
   * Removes the images that the change concerns. Rejects when one cannot be removed.
   *
   * @returns the number of the removed files and their disk usage
   */
  erase(change: Change): Promise<{ readonly files: number; readonly bytes: number }>;
  /** `disk` counts files and blocks. */
  stats(): Readonly<Record<'disk' | 'memory' | 'writes', HolderStats>>;
  /** Waits for pending writes. From then on no file is written. */
  close(): Promise<void>;
}

/** An image store over these files. */
export function createImageStore(options: ImageStoreOptions): ImageStore {
  const { files, changes, maxMemoryBytes, maxWriteBytes = DEFAULT_MAX_WRITE_BYTES } = options;
  const { health, holders, metrics } = options.runtime;
  const memory: Record<FileClass, MemoryCache<Buffer>> = {
    plain: createMemory(1 - CUSTOM_SHARE),
    custom: createMemory(CUSTOM_SHARE),
  };
  const writing = new Map<string, PendingWrite & { readonly done: Promise<void> }>();
  const erasing = new Set<Change>();
  let writingBytes = 0;
  let isClosed = false;

  function createMemory(share: number): MemoryCache<Buffer> {
    return createMemoryCache({ changes, maxBytes: maxMemoryBytes * share, sizeOf, concerns: concernsImage });
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

  function isRemoved(key: string, since: number): boolean {
    return changes.hasSince(since, (change) => concernsImage(change, key));
  }

  function isBeingErased(key: string): boolean {
    return [...erasing].some((change) => concernsImage(change, key));
  }

  function inMemory(key: string): Buffer | undefined {
    const held = memory.plain.get(key) ?? memory.custom.get(key);
    if (held !== undefined) return held;
    const pending = writing.get(key);
    return pending === undefined || isRemoved(key, pending.changeBefore) ? undefined : pending.bytes;
  }

  async function write(key: string, { bytes, changeBefore, fileClass, earlier }: PendingWrite): Promise<void> {
    // The response is sent first.
    await setImmediate();
    await earlier;
    try {
      if (!isRemoved(key, changeBefore)) await files.set(key, bytes, fileClass);
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
    // The key determines the bytes, but a change may have removed those of the earlier write.
    const isBeingWritten = earlier !== undefined && !isRemoved(key, earlier.changeBefore);
    if (isClosed || isBeingWritten || writingBytes + sizeOf(bytes, key) > maxWriteBytes) return;
    writingBytes += sizeOf(bytes, key);
    const pending = { bytes, changeBefore: changeBeforeWork(), fileClass, earlier: earlier?.done };
    const done = write(key, pending).finally(() => {
      if (writing.get(key)?.done === done) writing.delete(key);
    });
    writing.set(key, { ...pending, done });
  }

  /** Reads the image from disk, unless it is being erased. */
  async function find(key: string, fileClass: FileClass): Promise<Buffer | undefined> {
    if (isBeingErased(key)) return undefined;
    const latest = latestChange();
    const bytes = await read(() => files.get(key));
    if (isRemoved(key, latest)) return undefined;
    if (bytes !== undefined) memory[fileClass].set(key, bytes);
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
    get: (key, fileClass) => asWork(async () => inMemory(key) ?? (await find(key, fileClass))),

    put: (key, bytes, fileClass) => asWork(() => keep(key, bytes, fileClass)),

    async findForReading(key) {
      const pending = writing.get(key);
      if (pending !== undefined && pending.bytes.length <= MAX_COPIED_BYTES) return { bytes: pending.bytes };
      await pending?.done;
      const path = isBeingErased(key) ? undefined : await read(() => files.findPath(key));
      if (path !== undefined) return { path };
      const bytes = inMemory(key);
      return bytes && { bytes };
    },

    async erase(change) {
      erasing.add(change);
      try {
        // A file that is being written would reappear after its removal.
        await Promise.all([...writing].map(([key, { done }]) => concernsImage(change, key) && done));
        return await files.erase(change);
      } finally {
        erasing.delete(change);
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
