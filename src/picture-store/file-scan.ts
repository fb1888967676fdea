import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrorCode } from '../lib/file-system.ts';
import { createStatisticsCounter, type Statistics } from '../store/stored-kinds.ts';
import { listed, removeIfAllowed, removeIfEmpty } from './atomic-write.ts';
import { type FileIndex, type IndexedFile, indexedFile } from './file-index.ts';
import { type FileName, fileBytesOf, isShard, parseFileName, relativePathOf } from './file-names.ts';

export interface ScanOptions {
  readonly directory: string;
  readonly index: FileIndex;
  /** Wall clock. A later modification time was written with a wrong clock. */
  readonly nowMs: number;
  /** Stops the scan without an error. */
  readonly signal: AbortSignal;
  /** Called after the files of a directory were added. */
  readonly afterDirectory: () => Promise<void>;
}

/**
 * Adds every sound file below the directory to the index. Removes our truncated or outdated files. Works in steps of
 * one directory, so that other work can run in between.
 */
export async function scanFiles(options: ScanOptions): Promise<void> {
  for (const shard of await listed(options.directory)) {
    const names = await fileNamesOf(options.directory, shard);
    for (const name of names) {
      if (options.signal.aborted) return;
      await add(options, name);
    }
    // A former version did not remove the empty directories of evicted files.
    if (names.length === 0 && isShard(shard)) await removeIfEmpty(join(options.directory, shard));
    await options.afterDirectory();
  }
}

/** The names of all our files below the directory. */
export async function* fileNamesIn(directory: string): AsyncGenerator<FileName> {
  for (const shard of await listed(directory)) yield* await fileNamesOf(directory, shard);
}

async function fileNamesOf(directory: string, shard: string): Promise<FileName[]> {
  return (await listed(join(directory, shard))).map(parseFileName).filter((name) => name !== undefined);
}

async function add({ directory, index, nowMs }: ScanOptions, name: FileName): Promise<void> {
  const path = join(directory, relativePathOf(name));
  const found = await inspect(path, name, nowMs);
  if (found === undefined) return;
  const known = index.find(name.digest);
  if (known === undefined) {
    index.put(found.file, found.usedAtMs);
    if (found.isFromTheFuture) await utimes(path, nowMs / 1000, nowMs / 1000).catch(() => undefined);
  } else if (relativePathOf(known) !== relativePathOf(name)) {
    // Two contents of one key: another process, or one that was killed, has left the older file.
    await removeIfAllowed(path);
  }
}

export interface InspectedFile {
  readonly file: IndexedFile;
  /** Never later than now. */
  readonly usedAtMs: number;
  /** True if its modification time was written with a wrong clock. */
  readonly isFromTheFuture: boolean;
}

/** Returns the file for the index. Removes a file of wrong length. `undefined` if there is no file. */
export async function inspect(path: string, name: FileName, nowMs: number): Promise<InspectedFile | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    if (size === name.bytes) {
      const usedAtMs = Math.min(mtimeMs, nowMs);
      return { file: indexedFile(name, mtimeMs), usedAtMs, isFromTheFuture: mtimeMs > nowMs };
    }
    await removeIfAllowed(path);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT')) throw error;
  }
  return undefined;
}

/** Counts the files below the directory. */
export async function readFileStatistics(directory: string): Promise<Statistics> {
  const counter = createStatisticsCounter();
  for await (const { bytes, fileClass, isOriginal } of fileNamesIn(directory)) {
    const ofClass = fileClass === 'custom' ? 'ownSizes' : 'variants';
    counter.add(isOriginal ? 'originals' : ofClass, { entries: 1, bytes: fileBytesOf(bytes) });
  }
  return counter.statistics;
}
