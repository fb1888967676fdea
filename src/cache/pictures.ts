import { LRUCache } from 'lru-cache';
import { compactBytes } from '../lib/compact-copy.ts';
import type { HolderStats } from '../lib/holders.ts';
import type { ErasedFiles, FileClass, FileStore, FileStoreStats } from './files.ts';
import { channelOfPicture } from './keys.ts';
import type { SharedPictures } from './shared-pictures.ts';

export interface PictureCacheOptions {
  readonly files: FileStore;
  /** Asked for what is neither in memory nor on disk; holds `plain` pictures only. */
  readonly shared?: SharedPictures;
  readonly maxMemoryBytes: number;
  /** Of pictures that wait to be written. Default: 64 MiB. */
  readonly maxWriteBytes?: number;
  /** Told when writing or reading begins to fail and when it works again, not for every call. */
  readonly onStateChange: (state: { readonly isWorking: boolean; readonly error?: unknown }) => void;
}

export interface PictureCache {
  get(key: string, fileClass: FileClass): Promise<Buffer | undefined>;
  has(key: string, fileClass: FileClass): Promise<boolean>;
  /**
   * Returns at once; the file is written behind the answer. A failed write costs a later encode, nothing else; so does
   * one that is left out because the disk is slower than pictures come.
   */
  put(key: string, bytes: Buffer, fileClass: FileClass): void;
  /** For a process that reads the picture itself: its file, or its bytes where they are few or there is no file. */
  findForReading(key: string): Promise<{ path: string } | { bytes: Buffer } | undefined>;
  /** Removes every picture of these channels, here and from what is shared. Rejects when one cannot be removed. */
  eraseChannels(channelIds: ReadonlySet<string>): Promise<ErasedFiles>;
  /** Removes every picture, here and from what is shared. Rejects when one cannot be removed. */
  eraseAll(): Promise<ErasedFiles>;
  stats(): PictureCacheStats;
  isWorking(): boolean;
  /** Waits for the writes under way. */
  close(): Promise<void>;
}

export interface PictureCacheStats {
  readonly disk: FileStoreStats;
  readonly memory: HolderStats;
  /** Files that are being written. */
  readonly writes: HolderStats;
}

/** Of the memory that pictures may take: pictures of a client's own size must not push out what everybody asks for. */
const CUSTOM_SHARE = 0.25;
/** Copying more to another process would hold the event loop for milliseconds. */
const MAX_HANDED_BYTES = 1024 * 1024;
/** The buffer's objects and the cache's own lists (measured; the test compares). */
const ENTRY_OVERHEAD_BYTES = 650;
/** A disk that hangs must not fill the memory; the largest original is 16 MiB. */
const DEFAULT_MAX_WRITE_BYTES = 64 * 1024 * 1024;

/** Pictures in memory over pictures on disk, and over what other instances have made where there are any. */
export function createPictureCache(options: PictureCacheOptions): PictureCache {
  const { files, shared, maxMemoryBytes, maxWriteBytes = DEFAULT_MAX_WRITE_BYTES, onStateChange } = options;
  const memory: Record<FileClass, LRUCache<string, Buffer>> = {
    plain: createMemory(maxMemoryBytes * (1 - CUSTOM_SHARE)),
    custom: createMemory(maxMemoryBytes * CUSTOM_SHARE),
  };
  const writing = new Map<string, { readonly bytes: Buffer; readonly done: Promise<void> }>();
  let writingBytes = 0;
  let isWorking = true;

  function report(error?: unknown): void {
    const works = error === undefined;
    if (works === isWorking) return;
    isWorking = works;
    onStateChange(works ? { isWorking } : { isWorking, error });
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
    return memory.plain.get(key) ?? memory.custom.get(key) ?? writing.get(key)?.bytes;
  }

  async function write(key: string, bytes: Buffer, fileClass: FileClass, isShared: boolean): Promise<void> {
    // The answer that brought these bytes goes out first.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      if (fileClass === 'plain' && !isShared) await shared?.set(key, bytes);
      await files.set(key, bytes, fileClass);
      report();
    } catch (error) {
      report(error);
    } finally {
      writing.delete(key);
      writingBytes -= sizeOf(bytes, key);
    }
  }

  function keep(key: string, picture: Buffer, fileClass: FileClass, { isShared }: { isShared: boolean }): void {
    const bytes = compactBytes(picture);
    memory[fileClass].set(key, bytes);
    if (writing.has(key) || writingBytes + sizeOf(bytes, key) > maxWriteBytes) return;
    writingBytes += sizeOf(bytes, key);
    writing.set(key, { bytes, done: write(key, bytes, fileClass, isShared) });
  }

  /** What another instance has made; from then on it is here too. */
  async function fetchShared(key: string, fileClass: FileClass): Promise<Buffer | undefined> {
    const bytes = fileClass === 'plain' ? await shared?.get(key) : undefined;
    if (bytes !== undefined) keep(key, bytes, fileClass, { isShared: true });
    return bytes;
  }

  /** Drops what fits from memory, and waits for it to be written: what is on disk can be removed. */
  async function forget(isMeant: (key: string) => boolean): Promise<void> {
    for (const tier of [memory.plain, memory.custom]) {
      for (const key of [...tier.keys()].filter(isMeant)) tier.delete(key);
    }
    await Promise.all([...writing].filter(([key]) => isMeant(key)).map(([, { done }]) => done));
  }

  return {
    async get(key, fileClass) {
      const held = inMemory(key);
      if (held !== undefined) return held;
      const bytes = await read(() => files.get(key));
      if (bytes === undefined) return fetchShared(key, fileClass);
      memory[fileClass].set(key, bytes);
      return bytes;
    },

    async has(key, fileClass) {
      if (inMemory(key) !== undefined) return true;
      const path = await read(() => files.findPath(key));
      return path !== undefined || (await fetchShared(key, fileClass)) !== undefined;
    },

    put: (key, bytes, fileClass) => keep(key, bytes, fileClass, { isShared: false }),

    async findForReading(key) {
      const underWay = writing.get(key);
      if (underWay !== undefined && underWay.bytes.length <= MAX_HANDED_BYTES) return { bytes: underWay.bytes };
      await underWay?.done;
      const path = await read(() => files.findPath(key));
      if (path !== undefined) return { path };
      const bytes = inMemory(key);
      return bytes === undefined ? undefined : { bytes };
    },

    async eraseChannels(channelIds) {
      await forget((key) => channelIds.has(channelOfPicture(key)));
      await shared?.eraseChannels(channelIds);
      return files.eraseChannels(channelIds);
    },

    async eraseAll() {
      await forget(() => true);
      await shared?.eraseAll();
      return files.eraseAll();
    },

    stats: () => ({
      disk: files.stats(),
      memory: {
        entries: memory.plain.size + memory.custom.size,
        bytes: memory.plain.calculatedSize + memory.custom.calculatedSize,
        maxBytes: maxMemoryBytes,
      },
      writes: { entries: writing.size, bytes: writingBytes, maxBytes: maxWriteBytes },
    }),
    isWorking: () => isWorking,

    async close() {
      await Promise.all([...writing.values()].map(({ done }) => done));
      await files.close();
    },
  };
}

/** With 0 bytes it keeps nothing. */
function createMemory(maxBytes: number): LRUCache<string, Buffer> {
  return new LRUCache({ maxSize: Math.max(1, Math.floor(maxBytes)), sizeCalculation: sizeOf });
}

function sizeOf(bytes: Buffer, key: string): number {
  return ENTRY_OVERHEAD_BYTES + key.length + bytes.length;
}
