import { type BucketedLists, type BucketMember, createBucketedLists, NO_BUCKET } from '../lib/bucketed-lists.ts';
import { compactCopy } from '../lib/compact-copy.ts';
import { createShardedMap } from '../lib/sharded-map.ts';
import {
  directoryBytesOf,
  type FileClass,
  type FileName,
  fileBytesOf,
  SHARD_COUNT,
  shardNumberOf,
} from './file-names.ts';

/** Small integers and one short text: about 190 bytes of memory for each file (a test measures it). */
export interface IndexedFile extends FileName, BucketMember<IndexedFile> {
  /** The last use recorded in the file's modification time, for the next run; minutes since 1970. */
  rememberedUseMinute: number;
}

export function indexedFile(name: FileName, rememberedUseMs: number): IndexedFile {
  return {
    // A slice would keep the whole text in memory.
    digest: compactCopy(name.digest),
    bytes: name.bytes,
    checksum: name.checksum,
    fileClass: name.fileClass,
    isOriginal: name.isOriginal,
    rememberedUseMinute: minuteOf(rememberedUseMs),
    bucket: NO_BUCKET,
    previous: undefined,
    next: undefined,
  };
}

export interface ClassTotals {
  /** Disk usage. */
  readonly bytes: number;
  readonly files: number;
}

/** The stored files with their disk usage and their order of use, in memory. */
export interface FileIndex {
  find(digest: string): IndexedFile | undefined;
  /** Adds a file of an earlier run, replacing one with the same digest. */
  put(file: IndexedFile, usedAtMs: number): void;
  /** Adds a new file as the most recently used one. */
  putNew(file: IndexedFile, nowMs: number): void;
  /** Adds a file that could not be removed from disk, at its former place. */
  putBack(file: IndexedFile, bucket: number): void;
  /** Does nothing if another file has replaced it. */
  remove(file: IndexedFile): void;
  /** Makes the file the most recently used one; does nothing if it is not in the index. */
  use(file: IndexedFile, nowMs: number): void;
  leastRecentlyUsed(fileClass: FileClass): IndexedFile | undefined;
  totals(fileClass: FileClass): ClassTotals;
  /** The disk usage of the non-empty directories. */
  directoryBytes(): number;
  /** True when the file's directory contains indexed files. */
  hasFilesBeside(file: FileName): boolean;
}

const HOUR_MS = 3_600_000;

interface ClassIndex {
  /**
   * By the hour of their last use, within an hour in order of use. So a scan can add a hundred thousand files in any
   * order without sorting them.
   */
  readonly filesByHour: BucketedLists<IndexedFile>;
  bytes: number;
  files: number;
}

export function createFileIndex(): FileIndex {
  const byDigest = createShardedMap<IndexedFile>();
  const classes: Record<FileClass, ClassIndex> = { plain: createClassIndex(), custom: createClassIndex() };
  const filesInShard = new Uint32Array(SHARD_COUNT);
  let directoryBytes = 0;
  /** Never decreases: after the clock is set back, a new use must not look older than an earlier one. */
  let lastHour = 0;

  function count(file: FileName, change: 1 | -1): void {
    const shard = shardNumberOf(file.digest);
    const before = filesInShard[shard] as number;
    filesInShard[shard] = before + change;
    directoryBytes += directoryBytesOf(before + change) - directoryBytesOf(before);
    classes[file.fileClass].bytes += change * fileBytesOf(file.bytes);
    classes[file.fileClass].files += change;
  }

  function remove(file: IndexedFile): void {
    if (byDigest.get(file.digest) !== file) return;
    byDigest.delete(file.digest);
    classes[file.fileClass].filesByHour.remove(file);
    count(file, -1);
  }

  function put(file: IndexedFile, hour: number): void {
    const previous = byDigest.get(file.digest);
    if (previous !== undefined) remove(previous);
    byDigest.set(file.digest, file);
    classes[file.fileClass].filesByHour.place(file, hour);
    count(file, 1);
  }

  function hourOfUse(nowMs: number): number {
    lastHour = Math.max(lastHour, hourOf(nowMs));
    return lastHour;
  }

  return {
    find: (digest) => byDigest.get(digest),
    put: (file, usedAtMs) => put(file, hourOf(usedAtMs)),
    putNew: (file, nowMs) => put(file, hourOfUse(nowMs)),
    putBack: put,
    remove,
    use(file, nowMs) {
      if (byDigest.get(file.digest) === file) classes[file.fileClass].filesByHour.place(file, hourOfUse(nowMs));
    },
    leastRecentlyUsed: (fileClass) => classes[fileClass].filesByHour.lowest(),
    totals: (fileClass) => ({ bytes: classes[fileClass].bytes, files: classes[fileClass].files }),
    directoryBytes: () => directoryBytes,
    hasFilesBeside: ({ digest }) => (filesInShard[shardNumberOf(digest)] as number) > 0,
  };
}

function createClassIndex(): ClassIndex {
  return { filesByHour: createBucketedLists<IndexedFile>(), bytes: 0, files: 0 };
}

function hourOf(ms: number): number {
  return Math.max(0, Math.floor(ms / HOUR_MS));
}

export function minuteOf(ms: number): number {
  return Math.floor(ms / 60_000);
}

export interface FileQuotaOptions {
  readonly index: FileIndex;
  /** Disk usage of all files and their directories. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** Maximum share of `custom` files in both limits. They are also evicted first. */
  readonly customShare: number;
}

/** Limits the disk usage and the number of files. */
export interface FileQuota {
  /** True when a file of this length may be written. A custom file never displaces a plain one. */
  hasRoomFor(bytes: number, fileClass: FileClass): boolean;
  /**
   * Counts a file from the start of its write, so that concurrent writes keep the quota. Returns the release function.
   */
  reserve(bytes: number, fileClass: FileClass): () => void;
  /** The next file to evict; `undefined` while the limits hold. */
  findSurplus(): IndexedFile | undefined;
  /** True when the index has room for one more file. */
  hasPlaceInIndex(): boolean;
}

interface Taken {
  readonly bytes: number;
  readonly files: number;
}

export function createFileQuota({ index, maxBytes, maxFiles, customShare }: FileQuotaOptions): FileQuota {
  const max: Taken = { bytes: maxBytes, files: maxFiles };
  const maxCustom: Taken = { bytes: Math.floor(maxBytes * customShare), files: Math.floor(maxFiles * customShare) };
  const reserved: Record<FileClass, Taken> = { plain: { bytes: 0, files: 0 }, custom: { bytes: 0, files: 0 } };

  function takenBy(fileClass: FileClass): Taken {
    return sum(index.totals(fileClass), reserved[fileClass]);
  }

  function takenByPlain(): Taken {
    return sum(takenBy('plain'), { bytes: index.directoryBytes(), files: 0 });
  }

  return {
    hasRoomFor(bytes, fileClass) {
      const file = { bytes: fileBytesOf(bytes), files: 1 };
      // The file may be the first in its directory.
      const withDirectory = sum(file, { bytes: directoryBytesOf(1), files: 0 });
      if (fileClass === 'plain') return isWithin(withDirectory, max);
      const custom = sum(reserved.custom, file);
      return isWithin(custom, maxCustom) && isWithin(sum(sum(takenByPlain(), reserved.custom), withDirectory), max);
    },

    reserve(bytes, fileClass) {
      const file = { bytes: fileBytesOf(bytes), files: 1 };
      reserved[fileClass] = sum(reserved[fileClass], file);
      return () => {
        reserved[fileClass] = sum(reserved[fileClass], { bytes: -file.bytes, files: -file.files });
      };
    },

    findSurplus() {
      const custom = takenBy('custom');
      const isWholeWithin = isWithin(sum(custom, takenByPlain()), max);
      if (isWithin(custom, maxCustom) && isWholeWithin) return undefined;
      return index.leastRecentlyUsed('custom') ?? (isWholeWithin ? undefined : index.leastRecentlyUsed('plain'));
    },

    hasPlaceInIndex: () => takenBy('plain').files + takenBy('custom').files < maxFiles,
  };
}

function sum(one: Taken, other: Taken): Taken {
  return { bytes: one.bytes + other.bytes, files: one.files + other.files };
}

function isWithin(taken: Taken, most: Taken): boolean {
  return taken.bytes <= most.bytes && taken.files <= most.files;
}
