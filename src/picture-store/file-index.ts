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

/** Small integers and one short text: some 190 bytes of memory for each file (the test measures it). */
export interface IndexedFile extends FileName, BucketMember<IndexedFile> {
  /** The use that the file's modification time tells of, for the next run; minutes since 1970. */
  rememberedUseMinute: number;
}

export function indexedFile(name: FileName, rememberedUseMs: number): IndexedFile {
  return {
    // Without the text that it was cut out of.
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
  /** That the files take on the disk. */
  readonly bytes: number;
  readonly files: number;
}

/** Which files there are, how much they take, and which was used least recently. In memory, nothing takes long. */
export interface FileIndex {
  find(digest: string): IndexedFile | undefined;
  /** Adds a file of an earlier time in place of the one with the same digest. */
  put(file: IndexedFile, usedAtMs: number): void;
  /** Adds a file that has just been written, as the one that was used last. */
  putNew(file: IndexedFile, nowMs: number): void;
  /** Adds a file that could not be removed from the disk where it was. */
  putBack(file: IndexedFile, bucket: number): void;
  /** Does nothing when another file has taken the place. */
  remove(file: IndexedFile): void;
  /** Makes the file the one that was used last; does nothing when it is not in the index. */
  use(file: IndexedFile, nowMs: number): void;
  leastRecentlyUsed(fileClass: FileClass): IndexedFile | undefined;
  totals(fileClass: FileClass): ClassTotals;
  /** That the directories with files in them take on the disk. */
  directoryBytes(): number;
  /** Whether the file's directory has files of the index in it. */
  hasFilesBeside(file: FileName): boolean;
}

const HOUR_MS = 3_600_000;

interface ClassIndex {
  /**
   * By the hour of their last use, within an hour in order of use. So a scan of the directory can add a hundred thousand
   * files in any order without ever sorting them.
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
  /** Only rises: a clock that is set back must not make what is used now look older than what was used before. */
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
  /** On the disk, for all files and their directories together. */
  readonly maxBytes: number;
  readonly maxFiles: number;
  /** The part of either that files of class `custom` may take; they also go first when the whole is full. */
  readonly customShare: number;
}

/** Which files may stay, by what they take on the disk and by their number. */
export interface FileQuota {
  /** Whether a file of this length may be written; a custom one never at the expense of a plain one. */
  hasRoomFor(bytes: number, fileClass: FileClass): boolean;
  /** Counts a file from the start of its writing: many at once would overrun the quota. Returns what ends that. */
  reserve(bytes: number, fileClass: FileClass): () => void;
  /** The file that has to go next, `undefined` while all may stay. */
  findSurplus(): IndexedFile | undefined;
  /** Whether the index may hold one more file. */
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
      // It may be the first in its directory.
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
