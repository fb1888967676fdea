import {
  directoryBytesOf,
  type FileClass,
  type FileName,
  fileBytesOf,
  SHARD_COUNT,
  shardNumberOf,
} from './file-names.ts';

export interface Usage {
  /** Disk usage. */
  readonly bytes: number;
  readonly files: number;
}

/**
 * The disk usage of the store, as sums for each of its directories. The file system is the only list of the files, so
 * the memory does not grow with their number.
 */
export interface DiskUsage {
  /** Replaces the sums of a directory by those of its files. */
  count(shard: string, names: readonly FileName[]): void;
  ofClass(fileClass: FileClass): Usage;
  /** The disk usage of the non-empty directories. */
  directoryBytes(): number;
  /** True when files of this class were counted in the directory. */
  hasClass(shard: string, fileClass: FileClass): boolean;
}

const CLASSES = ['plain', 'custom'] as const satisfies readonly FileClass[];

interface ClassSums {
  bytes: number;
  files: number;
  readonly bytesByShard: Float64Array;
  readonly filesByShard: Uint32Array;
}

export function createDiskUsage(): DiskUsage {
  const classes: Record<FileClass, ClassSums> = { plain: createClassSums(), custom: createClassSums() };
  let directoryBytes = 0;

  function directoryBytesOfShard(shard: number): number {
    const files = CLASSES.map((fileClass) => classes[fileClass].filesByShard[shard] as number);
    return directoryBytesOf(files.reduce((sum, count) => sum + count, 0));
  }

  return {
    count(shard, names) {
      const number = shardNumberOf(shard);
      directoryBytes -= directoryBytesOfShard(number);
      for (const fileClass of CLASSES) {
        const ofClass = names.filter((name) => name.fileClass === fileClass);
        const bytes = ofClass.reduce((sum, name) => sum + fileBytesOf(name.bytes), 0);
        replaceSums(classes[fileClass], number, { bytes, files: ofClass.length });
      }
      directoryBytes += directoryBytesOfShard(number);
    },
    ofClass: (fileClass) => ({ bytes: classes[fileClass].bytes, files: classes[fileClass].files }),
    directoryBytes: () => directoryBytes,
    hasClass: (shard, fileClass) => (classes[fileClass].filesByShard[shardNumberOf(shard)] as number) > 0,
  };
}

function createClassSums(): ClassSums {
  return {
    bytes: 0,
    files: 0,
    bytesByShard: new Float64Array(SHARD_COUNT),
    filesByShard: new Uint32Array(SHARD_COUNT),
  };
}

function replaceSums(sums: ClassSums, shard: number, { bytes, files }: Usage): void {
  sums.bytes += bytes - (sums.bytesByShard[shard] as number);
  sums.files += files - (sums.filesByShard[shard] as number);
  sums.bytesByShard[shard] = bytes;
  sums.filesByShard[shard] = files;
}

export interface FileQuotaOptions {
  readonly usage: DiskUsage;
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
   * Counts a file and its directory from the start of its write, so that concurrent writes keep the quota. Returns the
   * release function.
   */
  reserve(bytes: number, fileClass: FileClass): () => void;
  /** The class of the next file to evict; `undefined` while the limits hold. */
  findSurplus(): FileClass | undefined;
}

export function createFileQuota({ usage, maxBytes, maxFiles, customShare }: FileQuotaOptions): FileQuota {
  const max: Usage = { bytes: maxBytes, files: maxFiles };
  const maxCustom: Usage = { bytes: Math.floor(maxBytes * customShare), files: Math.floor(maxFiles * customShare) };
  const reserved: Record<FileClass, Usage> = { plain: { bytes: 0, files: 0 }, custom: { bytes: 0, files: 0 } };
  let reservedDirectoryBytes = 0;

  function takenBy(fileClass: FileClass): Usage {
    return sum(usage.ofClass(fileClass), reserved[fileClass]);
  }

  function takenByPlain(): Usage {
    return sum(takenBy('plain'), { bytes: usage.directoryBytes() + reservedDirectoryBytes, files: 0 });
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
      // The file may be the first in its directory.
      const directoryBytes = directoryBytesOf(1);
      reserved[fileClass] = sum(reserved[fileClass], file);
      reservedDirectoryBytes += directoryBytes;
      return () => {
        reserved[fileClass] = sum(reserved[fileClass], { bytes: -file.bytes, files: -file.files });
        reservedDirectoryBytes -= directoryBytes;
      };
    },

    findSurplus() {
      const custom = takenBy('custom');
      const isWholeWithin = isWithin(sum(custom, takenByPlain()), max);
      if (isWithin(custom, maxCustom) && isWholeWithin) return undefined;
      if (usage.ofClass('custom').files > 0) return 'custom';
      return isWholeWithin || usage.ofClass('plain').files === 0 ? undefined : 'plain';
    },
  };
}

function sum(one: Usage, other: Usage): Usage {
  return { bytes: one.bytes + other.bytes, files: one.files + other.files };
}

function isWithin(taken: Usage, most: Usage): boolean {
  return taken.bytes <= most.bytes && taken.files <= most.files;
}
