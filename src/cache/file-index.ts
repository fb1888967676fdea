import { createRankedLists, type Ranked, type RankedLists, UNRANKED } from '../lib/ranked-lists.ts';
import { createShardedMap } from '../lib/sharded-map.ts';
import type { FileName } from './file-names.ts';
import type { FileClass } from './files.ts';

export interface IndexedFile extends FileName, Ranked<IndexedFile> {
  /** Wall clock; for a file of an earlier run, known to the hour. */
  usedAtMs: number;
  /** The use that the file's modification time tells of, for the next run. */
  rememberedUseAtMs: number;
}

export function indexedFile(name: FileName, usedAtMs: number): IndexedFile {
  return { ...name, usedAtMs, rememberedUseAtMs: usedAtMs, rank: UNRANKED, previous: undefined, next: undefined };
}

export interface ClassTotals {
  readonly bytes: number;
  readonly files: number;
}

/** Which files there are, how much they take, and which was used least recently. In memory, nothing takes long. */
export interface FileIndex {
  find(digest: string): IndexedFile | undefined;
  /** Adds a file in place of the one with the same digest. */
  put(file: IndexedFile): void;
  /** Does nothing when another file has taken the place. */
  remove(file: IndexedFile): void;
  /** Makes the file the one that was used last. */
  use(file: IndexedFile, nowMs: number): void;
  leastRecentlyUsed(fileClass: FileClass): IndexedFile | undefined;
  totals(fileClass: FileClass): ClassTotals;
}

const HOUR_MS = 3_600_000;

interface ClassIndex {
  /**
   * By the hour of their last use, within an hour in order of use. So a scan of the directory can add a hundred thousand
   * files in any order without ever sorting them.
   */
  readonly filesByHour: RankedLists<IndexedFile>;
  bytes: number;
  files: number;
}

export function createFileIndex(): FileIndex {
  const byDigest = createShardedMap<IndexedFile>();
  const classes: Record<FileClass, ClassIndex> = { plain: createClassIndex(), custom: createClassIndex() };

  function remove(file: IndexedFile): void {
    if (byDigest.get(file.digest) !== file) return;
    byDigest.delete(file.digest);
    classes[file.fileClass].filesByHour.remove(file);
    classes[file.fileClass].bytes -= file.bytes;
    classes[file.fileClass].files -= 1;
  }

  return {
    find: (digest) => byDigest.get(digest),
    put(file) {
      const previous = byDigest.get(file.digest);
      if (previous !== undefined) remove(previous);
      byDigest.set(file.digest, file);
      classes[file.fileClass].filesByHour.place(file, hourOf(file));
      classes[file.fileClass].bytes += file.bytes;
      classes[file.fileClass].files += 1;
    },
    remove,
    use(file, nowMs) {
      if (byDigest.get(file.digest) !== file) return;
      file.usedAtMs = nowMs;
      classes[file.fileClass].filesByHour.place(file, hourOf(file));
    },
    leastRecentlyUsed: (fileClass) => classes[fileClass].filesByHour.lowest(),
    totals: (fileClass) => ({ bytes: classes[fileClass].bytes, files: classes[fileClass].files }),
  };
}

function createClassIndex(): ClassIndex {
  return { filesByHour: createRankedLists<IndexedFile>(), bytes: 0, files: 0 };
}

function hourOf(file: IndexedFile): number {
  return Math.max(0, Math.floor(file.usedAtMs / HOUR_MS));
}
