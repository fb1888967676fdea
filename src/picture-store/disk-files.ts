import { readFile, rm, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { hasErrorCode } from '../lib/file-system.ts';
import type { HolderStats } from '../lib/holders.ts';
import type { Change } from '../store/changes.ts';
import { listed, removeIfAllowed, removeIfEmpty, removeLeftovers, writeWhole } from './atomic-write.ts';
import { createFileIndex, createFileQuota, type IndexedFile, indexedFile, minuteOf } from './file-index.ts';
import {
  channelDigestIn,
  channelDigestOf,
  digestOf,
  type FileClass,
  type FileName,
  fileBytesOf,
  fileNameOf,
  isContentOf,
  parseFileName,
  relativePathOf,
  shardOf,
} from './file-names.ts';
import { fileNamesIn, inspect, scanFiles } from './file-scan.ts';

/** `bytes` is the disk usage of the files and their directories. */
export interface FileStoreStats extends HolderStats {
  readonly entries: number;
  readonly maxEntries: number;
  readonly bytes: number;
  readonly maxBytes: number;
  /** Parts of `bytes`, without the directories. */
  readonly plainBytes: number;
  readonly customBytes: number;
}

export interface ErasedFiles {
  readonly files: number;
  /** Disk usage. */
  readonly bytes: number;
}

/** Pictures on disk, with a quota. Never returns a truncated, empty or foreign file. */
export interface FileStore {
  get(key: string): Promise<Buffer | undefined>;
  /** Returns the path of the stored file, for another process to read. */
  findPath(key: string): Promise<string | undefined>;
  set(key: string, bytes: Buffer, fileClass: FileClass): Promise<void>;
  /** Removes every file that the change concerns, also those of other processes. Rejects if one cannot be removed. */
  erase(change: Change): Promise<ErasedFiles>;
  stats(): FileStoreStats;
  close(): Promise<void>;
}

export type DiskFileStoreEvent =
  /** The files of earlier runs are counted. */
  | { readonly kind: 'scanned'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'scan-failed'; readonly error: unknown }
  /** A file was removed because its content had changed. */
  | { readonly kind: 'damaged'; readonly path: string }
  | { readonly kind: 'evicted'; readonly fileClass: FileClass; readonly bytes: number };

export interface DiskFileStoreOptions {
  /** Created if missing. */
  readonly directory: string;
  /** Quota for the disk usage of all files and their directories. */
  readonly maxBytes: number;
  /** Maximum number of files; each takes about 190 bytes of memory. Default: 500,000. */
  readonly maxFiles?: number;
  /** Maximum share of `custom` files in both limits. They are also evicted first. */
  readonly customShare?: number;
  readonly clock: Clock;
  readonly onEvent: (event: DiskFileStoreEvent) => void;
}

/** With so many files, the index takes 95 MB of memory. */
const DEFAULT_MAX_FILES = 500_000;
const DEFAULT_CUSTOM_SHARE = 0.25;
const TEMPORARY = 'tmp';
/** Recording each use would cost a write. After a restart, an hour is exact enough. */
const REMEMBER_USE_AFTER_MINUTES = 60;

/**
 * Pictures as files, one each, with a quota and LRU eviction. Truncated, damaged or foreign files count as absent.
 * Files of an earlier run are found at once, and counted against the quota when a background scan has reached them.
 * Several processes may share the directory; each counts the files that it knows.
 *
 * `set` rejects when the disk is full or read-only; stored files can still be read.
 */
export function createDiskFileStore(options: DiskFileStoreOptions): FileStore {
  const { maxBytes, maxFiles = DEFAULT_MAX_FILES, customShare = DEFAULT_CUSTOM_SHARE, clock, onEvent } = options;
  const directory = resolve(options.directory);
  const temporaryDirectory = join(directory, TEMPORARY);
  const index = createFileIndex();
  const quota = createFileQuota({ index, maxBytes, maxFiles, customShare });
  const stop = new AbortController();
  let scanning: Promise<void> | undefined;
  let mustScanAgain = false;
  startScan();

  function startScan(): void {
    mustScanAgain = false;
    scanning = scan();
  }

  async function scan(): Promise<void> {
    try {
      // The index must not exceed its bound during the scan; the files used last are kept.
      await scanFiles({ directory, index, nowMs: clock.now(), signal: stop.signal, afterDirectory: evictSurplus });
      if (stop.signal.aborted) return;
      await removeLeftovers(temporaryDirectory);
      await evictSurplus();
      const { entries, bytes } = stats();
      onEvent({ kind: 'scanned', files: entries, bytes });
    } catch (error) {
      // Files that were not scanned are found but not counted. The scan starts again when the disk is writable.
      mustScanAgain = true;
      onEvent({ kind: 'scan-failed', error });
    }
  }

  function pathOf(file: FileName): string {
    return join(directory, relativePathOf(file));
  }

  /** Also finds files of other processes, and files that the scan has not reached yet. */
  async function find(digest: string): Promise<IndexedFile | undefined> {
    const known = index.find(digest);
    if (known !== undefined) return known;
    const shard = join(directory, shardOf(digest));
    const name = (await listed(shard)).map(parseFileName).find((found) => found?.digest === digest);
    if (name === undefined) return undefined;
    const found = await inspect(pathOf(name), name, clock.now());
    if (found === undefined || index.find(digest) !== undefined) return index.find(digest);
    // With a full index on a read-only disk, nothing can be evicted. The file is used without being indexed.
    if (quota.hasPlaceInIndex()) index.put(found.file, found.usedAtMs);
    return found.file;
  }

  async function markUsed(file: IndexedFile): Promise<void> {
    const nowMs = clock.now();
    index.use(file, nowMs);
    const sinceRemembered = minuteOf(nowMs) - file.rememberedUseMinute;
    // Negative after the clock was set back: the recorded time is wrong.
    if (sinceRemembered >= 0 && sinceRemembered < REMEMBER_USE_AFTER_MINUTES) return;
    file.rememberedUseMinute = minuteOf(nowMs);
    // Fails when the file was just removed or the disk is read-only. Then the use is not recorded.
    await utimes(pathOf(file), nowMs / 1000, nowMs / 1000).catch(() => undefined);
  }

  async function remove(file: IndexedFile): Promise<void> {
    index.remove(file);
    await removeName(file);
  }

  async function removeName(name: FileName): Promise<void> {
    await rm(pathOf(name), { force: true });
    if (!index.hasFilesBeside(name)) await removeIfEmpty(join(directory, shardOf(name.digest)));
  }

  async function discardDamaged(file: IndexedFile): Promise<void> {
    onEvent({ kind: 'damaged', path: pathOf(file) });
    index.remove(file);
    await removeIfAllowed(pathOf(file));
  }

  async function evictSurplus(): Promise<void> {
    for (let file = quota.findSurplus(); file !== undefined; file = quota.findSurplus()) {
      const { bucket } = file;
      try {
        await remove(file);
        onEvent({ kind: 'evicted', fileClass: file.fileClass, bytes: fileBytesOf(file.bytes) });
      } catch (error) {
        index.putBack(file, bucket);
        throw error;
      }
    }
  }

  async function write(key: string, content: Buffer, fileClass: FileClass): Promise<void> {
    const name = await fileNameOf(key, content, fileClass);
    const nowMs = clock.now();
    const release = quota.reserve(name.bytes, fileClass);
    try {
      await evictSurplus();
      await writeWhole(join(directory, relativePathOf(name)), temporaryDirectory, content, nowMs);
    } finally {
      release();
    }
    const previous = index.find(name.digest);
    index.putNew(indexedFile(name, nowMs), nowMs);
    const isReplaced = previous !== undefined && relativePathOf(previous) !== relativePathOf(name);
    if (isReplaced) await rm(pathOf(previous), { force: true });
    // Concurrent writes may have exceeded the quota together.
    await evictSurplus();
  }

  async function removeKey(key: string): Promise<void> {
    const file = await find(digestOf(key));
    if (file !== undefined) await remove(file);
  }

  /** Lists the directory, because the index has no files of other processes. */
  async function erase(matches: (name: FileName) => boolean): Promise<ErasedFiles> {
    const erased = { files: 0, bytes: 0 };
    for await (const name of fileNamesIn(directory)) {
      if (!matches(name)) continue;
      const known = index.find(name.digest);
      if (known !== undefined) index.remove(known);
      await removeName(name);
      erased.files += 1;
      erased.bytes += fileBytesOf(name.bytes);
    }
    return erased;
  }

  function stats(): FileStoreStats {
    const plain = index.totals('plain');
    const custom = index.totals('custom');
    return {
      entries: plain.files + custom.files,
      maxEntries: maxFiles,
      bytes: plain.bytes + custom.bytes + index.directoryBytes(),
      maxBytes,
      plainBytes: plain.bytes,
      customBytes: custom.bytes,
    };
  }

  return {
    async get(key) {
      const file = await find(digestOf(key));
      if (file === undefined) return undefined;
      try {
        const content = await readFile(pathOf(file));
        if (await isContentOf(file, content)) {
          await markUsed(file);
          return content;
        }
      } catch (error) {
        if (!hasErrorCode(error, 'ENOENT')) throw error;
        index.remove(file);
        return undefined;
      }
      await discardDamaged(file);
      return undefined;
    },

    async findPath(key) {
      const file = await find(digestOf(key));
      if (file === undefined) return undefined;
      const found = await inspect(pathOf(file), file, clock.now());
      if (found === undefined) {
        index.remove(file);
        return undefined;
      }
      await markUsed(file);
      return pathOf(file);
    },

    async set(key, bytes, fileClass) {
      if (bytes.length === 0 || !quota.hasRoomFor(bytes.length, fileClass)) return removeKey(key);
      try {
        await write(key, bytes, fileClass);
      } catch (error) {
        throw new Error(`A picture cannot be stored in ${directory}: ${reasonOf(error)}.`, { cause: error });
      }
      if (mustScanAgain) startScan();
    },

    async erase({ channelIds, includesPictures }) {
      if (!includesPictures) return { files: 0, bytes: 0 };
      if (channelIds === 'all') return erase(() => true);
      const digests = new Set([...channelIds].map(channelDigestOf));
      return erase((name) => digests.has(channelDigestIn(name)));
    },

    stats,

    async close() {
      stop.abort();
      await scanning;
    },
  };
}

function reasonOf(error: unknown): string {
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT')) return 'the disk is full';
  if (hasErrorCode(error, 'EROFS')) return 'the disk is read-only';
  if (hasErrorCode(error, 'EACCES', 'EPERM')) return 'this user may not write there';
  return error instanceof Error ? error.message : String(error);
}
