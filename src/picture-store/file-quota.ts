import type { FileIndex, IndexedFile } from './file-index.ts';
import { directoryBytesOf, fileBytesOf } from './file-names.ts';
import type { FileClass } from './files.ts';

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
