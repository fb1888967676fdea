import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { untilAborted } from '../lib/work.ts';
import { createStatisticsCounter, type Statistics } from '../store/stored-kinds.ts';
import { removeIfAllowed, removeIfEmpty, statsOf } from './atomic-write.ts';
import { type FileName, fileBytesOf, relativePathOf } from './file-names.ts';
import { filesIn, type Shards, shardsIn } from './shards.ts';

/** The scan waits for this multiple of the time that it has worked, so that a start and its first pictures are not slower. */
const PAUSE_FACTOR = 9;
/** The limit when the disk is slow or busy: 4,096 directories then take some minutes. */
const MAX_PAUSE_MS = 20;

/**
 * Counts the files of every directory by their names, and removes the older of two contents of one key.
 *
 * @param signal stops the scan without an error
 */
export async function scanFiles(directory: string, shards: Shards, clock: Clock, signal: AbortSignal): Promise<void> {
  for (const shard of await shardsIn(directory)) {
    if (signal.aborted) return;
    const startedMs = clock.monotonic();
    const files = await shards.change(shard, (found) => withoutOutdated(directory, found));
    // A former version did not remove the empty directories of evicted files.
    if (files.length === 0) await removeIfEmpty(join(directory, shard));
    await pause(clock, Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (clock.monotonic() - startedMs)), signal);
  }
}

/** Ends early when the signal is aborted. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  const { promise: elapsed, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  await untilAborted(elapsed, signal).catch(cancel);
}

/** Two contents of one key: another process, or one that was killed, has left the older file. */
async function withoutOutdated(directory: string, files: readonly FileName[]): Promise<readonly FileName[]> {
  const outdated = new Set<FileName>();
  for (const same of Map.groupBy(files, ({ digest }) => digest).values()) {
    if (same.length === 1) continue;
    const stats = await Promise.all(same.map((file) => statsOf(join(directory, relativePathOf(file)))));
    const timesMs = stats.map((found) => found?.mtimeMs ?? 0);
    const newest = timesMs.indexOf(Math.max(...timesMs));
    for (const [at, file] of same.entries()) if (at !== newest) outdated.add(file);
  }
  for (const file of outdated) await removeIfAllowed(join(directory, relativePathOf(file)));
  return outdated.size === 0 ? files : files.filter((file) => !outdated.has(file));
}

/** Counts the files below the directory. */
export async function readFileStatistics(directory: string): Promise<Statistics> {
  const counter = createStatisticsCounter();
  for (const shard of await shardsIn(directory)) {
    for (const { bytes, fileClass, isOriginal } of await filesIn(directory, shard)) {
      const ofClass = fileClass === 'custom' ? 'ownSizes' : 'variants';
      counter.add(isOriginal ? 'originals' : ofClass, { entries: 1, bytes: fileBytesOf(bytes) });
    }
  }
  return counter.statistics;
}
