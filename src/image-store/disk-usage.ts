import { directoryBytesOf, type FileClass, type FileName, fileBytesOf, SHARD_COUNT } from './file-names.ts';

interface Usage {
  /** Disk usage. */
  readonly bytes: number;
  readonly files: number;
}

const NONE: Usage = { bytes: 0, files: 0 };
/** Maximum share of `custom` files in both limits. They are also evicted first. */
const CUSTOM_SHARE = 0.25;
const CLASSES = ['plain', 'custom'] as const satisfies readonly FileClass[];

export type DiskUsage = ReturnType<typeof createDiskUsage>;

/**
 * The disk usage of the store, as sums for each of its directories, and its limits. The file system is the only list of
 * the files, so the memory does not grow with their number.
 *
 * @param maxBytes limit of the disk usage of all files and their directories
 */
export function createDiskUsage(maxBytes: number, maxFiles: number) {
  const max: Usage = { bytes: maxBytes, files: maxFiles };
  const maxCustom: Usage = { bytes: Math.floor(maxBytes * CUSTOM_SHARE), files: Math.floor(maxFiles * CUSTOM_SHARE) };
  const shardBytes = { plain: new Float64Array(SHARD_COUNT), custom: new Float64Array(SHARD_COUNT) };
  const shardFiles = { plain: new Uint32Array(SHARD_COUNT), custom: new Uint32Array(SHARD_COUNT) };
  const sums: Record<FileClass, Usage> = { plain: NONE, custom: NONE };
  /** The disk usage of the non-empty directories. */
  let directoryBytes = 0;
  /** The directories of files that are being written count as plain. */
  const reserved: Record<FileClass, Usage> = { plain: NONE, custom: NONE };

  function usageIn(shard: number, fileClass: FileClass): Usage {
    return { bytes: shardBytes[fileClass][shard] as number, files: shardFiles[fileClass][shard] as number };
  }

  function takenByPlain(): Usage {
    return sum([sums.plain, reserved.plain, { bytes: directoryBytes, files: 0 }]);
  }

  return {
    /** Replaces the sums of a directory with those of these files. */
    count(shard: string, names: readonly FileName[]): void {
      const number = Number.parseInt(shard, 16);
      const filesBefore = usageIn(number, 'plain').files + usageIn(number, 'custom').files;
      directoryBytes += directoryBytesOf(names.length) - directoryBytesOf(filesBefore);
      for (const fileClass of CLASSES) {
        const ofClass = names.filter((name) => name.fileClass === fileClass);
        const now = sum(ofClass.map(usageOf));
        sums[fileClass] = difference(sum([sums[fileClass], now]), usageIn(number, fileClass));
        shardBytes[fileClass][number] = now.bytes;
        shardFiles[fileClass][number] = now.files;
      }
    },

    /** The number of files of this class that were counted in the directory. */
    countOf: (shard: string, fileClass: FileClass) => usageIn(Number.parseInt(shard, 16), fileClass).files,

    /** True when a file of this length may be written. A custom file never displaces a plain one. */
    hasRoomFor(bytes: number, fileClass: FileClass): boolean {
      const file = usageOf({ bytes });
      if (fileClass === 'plain') return isWithin(sum([file, NEW_DIRECTORY]), max);
      const custom = sum([reserved.custom, file]);
      return isWithin(custom, maxCustom) && isWithin(sum([takenByPlain(), custom, NEW_DIRECTORY]), max);
    },

    /**
     * Counts a file and its directory from the start of its write, so that concurrent writes keep the quota. Returns the
     * release function.
     */
    reserve(bytes: number, fileClass: FileClass): () => void {
      const file = usageOf({ bytes });
      reserved[fileClass] = sum([reserved[fileClass], file]);
      reserved.plain = sum([reserved.plain, NEW_DIRECTORY]);
      return () => {
        reserved[fileClass] = difference(reserved[fileClass], file);
        reserved.plain = difference(reserved.plain, NEW_DIRECTORY);
      };
    },

    /** The class of the next file to evict; `undefined` while the limits hold. */
    findSurplus(): FileClass | undefined {
      const custom = sum([sums.custom, reserved.custom]);
      const isWholeWithin = isWithin(sum([custom, takenByPlain()]), max);
      if (isWithin(custom, maxCustom) && isWholeWithin) return undefined;
      if (sums.custom.files > 0) return 'custom';
      return isWholeWithin || sums.plain.files === 0 ? undefined : 'plain';
    },

    /** `bytes` is the disk usage of the files and their directories; the parts are without the directories. */
    stats: () => ({
      entries: sums.plain.files + sums.custom.files,
      maxEntries: maxFiles,
      bytes: sums.plain.bytes + sums.custom.bytes + directoryBytes,
      maxBytes,
      plainBytes: sums.plain.bytes,
      customBytes: sums.custom.bytes,
    }),
  };
}

/** A file may be the first in its directory. */
const NEW_DIRECTORY: Usage = { bytes: directoryBytesOf(1), files: 0 };

function usageOf({ bytes }: Pick<FileName, 'bytes'>): Usage {
  return { bytes: fileBytesOf(bytes), files: 1 };
}

function sum(usages: readonly Usage[]): Usage {
  return usages.reduce((one, other) => ({ bytes: one.bytes + other.bytes, files: one.files + other.files }), NONE);
}

function difference(one: Usage, other: Usage): Usage {
  return { bytes: one.bytes - other.bytes, files: one.files - other.files };
}

function isWithin(taken: Usage, most: Usage): boolean {
  return taken.bytes <= most.bytes && taken.files <= most.files;
}
