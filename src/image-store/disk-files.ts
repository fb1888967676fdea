import { utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { hasErrorCode } from '../lib/file-system.ts';
import {
  type FileStats,
  readIfPresent,
  removeIfAllowed,
  removeLeftovers,
  statsOf,
  writeWhole,
} from './atomic-write.ts';
import { createDiskUsage } from './disk-usage.ts';
import {
  channelDigestIn,
  channelDigestOf,
  digestOf,
  type FileClass,
  type FileName,
  fileBytesOf,
  fileNameOf,
  isContentOf,
  relativePathOf,
  shardOf,
  shardsOfChannel,
} from './file-names.ts';
import { createShards, filesIn, shardsIn } from './shards.ts';

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
  /** Maximum number of files. Default: 10,000,000. */
  readonly maxFiles?: number;
  readonly clock: Clock;
  readonly onEvent: (event: DiskFileStoreEvent) => void;
}

/** The 4,096 directories then have 2,441 files on average, which a lookup lists in some milliseconds. */
const DEFAULT_MAX_FILES = 10_000_000;
/**
 * So that many own sizes of one channel, which are in 16 directories, do not make lookups there slow. With 10,000,000 files,
 * a directory has 610 own sizes on average.
 */
export const MAX_CUSTOM_FILES_OF_SHARD = 1_024;
/**
 * Recording each use would cost a write. A use is recorded only if the recorded time is older than this share of the age
 * of the most recently evicted file. The order of eviction is exact to this share.
 */
const USE_SHARE = 1 / 32;
const MAX_USE_MS = 3_600_000;

export type FileStore = ReturnType<typeof createDiskFileStore>;

/**
 * Images as files, one each, with a quota and approximate LRU eviction. Truncated, damaged or foreign files count as
 * absent. There is no index: a lookup lists one of the directories, and the modification time is the time of last use.
 * Files of an earlier run are found at once, and counted against the quota when a background scan has reached them.
 * Several processes may share the directory; each counts the files of the others when it changes the same directory.
 *
 * `set` rejects when the disk is full or read-only; stored files can still be read.
 */
export function createDiskFileStore(options: DiskFileStoreOptions) {
  const { maxBytes, maxFiles = DEFAULT_MAX_FILES, clock, onEvent } = options;
  const directory = resolve(options.directory);
  const temporaryDirectory = join(directory, 'tmp');
  const usage = createDiskUsage(maxBytes, maxFiles);
  const shards = createShards(directory, usage, clock);
  const { pathOf } = shards;
  const stop = new AbortController();
  let mustScanAgain = false;
  let evicting: Promise<void> = Promise.resolve();
  /** The last use of the most recently evicted file; at first the time of the start. */
  let evictedUseMs = clock.now();
  let scanning = scan();

  async function scan(): Promise<void> {
    mustScanAgain = false;
    try {
      await removeLeftovers(temporaryDirectory);
      await shards.scan(stop.signal);
      if (stop.signal.aborted) return;
      await evictSurplus();
      const { entries, bytes } = usage.stats();
      onEvent({ kind: 'scanned', files: entries, bytes });
    } catch (error) {
      // Files that were not scanned are found but not counted. The scan starts again when the disk is writable.
      mustScanAgain = true;
      onEvent({ kind: 'scan-failed', error });
    }
  }

  async function markUsed(file: FileName, { mtimeMs }: FileStats): Promise<void> {
    const nowMs = clock.now();
    const sinceRecordedMs = nowMs - mtimeMs;
    const exactToMs = Math.min(MAX_USE_MS, (nowMs - evictedUseMs) * USE_SHARE);
    // Negative after the clock was set back: the recorded time is wrong.
    if (sinceRecordedMs >= 0 && sinceRecordedMs < exactToMs) return;
    // Fails when the file was just removed or the disk is read-only. Then the use is not recorded.
    await utimes(pathOf(file), nowMs / 1000, nowMs / 1000).catch(() => undefined);
  }

  async function discardDamaged(file: FileName): Promise<undefined> {
    onEvent({ kind: 'damaged', path: pathOf(file) });
    await shards.change(shardOf(file.digest), async (files) => {
      await removeIfAllowed(pathOf(file));
      return files.filter((other) => !isSame(other, file));
    });
  }

  /** One eviction at a time, so that concurrent writes do not evict more than necessary. */
  function evictSurplus(): Promise<void> {
    if (usage.findSurplus() === undefined) return Promise.resolve();
    const run = evicting.then(evict);
    evicting = run.catch(() => undefined);
    return run;
  }

  async function evict(): Promise<void> {
    for (let surplus = usage.findSurplus(); surplus !== undefined; surplus = usage.findSurplus()) {
      const victim = await shards.nextVictim(surplus);
      // The search has corrected the sums. Without a change, the files of this class cannot be found.
      if (victim === undefined && usage.findSurplus() === surplus) return;
      // The sums were too high: nothing has to be evicted.
      if (victim === undefined || usage.findSurplus() !== surplus) continue;
      const { file, usedAtMs } = victim;
      await evictFile(file);
      if (usedAtMs > 0) evictedUseMs = usedAtMs;
    }
  }

  async function evictFile(file: FileName): Promise<void> {
    await shards.remove(shardOf(file.digest), (other) => isSame(other, file));
    onEvent({ kind: 'evicted', fileClass: file.fileClass, bytes: fileBytesOf(file.bytes) });
  }

  async function makeRoomIn(shard: string, fileClass: FileClass): Promise<void> {
    if (fileClass === 'plain' || usage.countOf(shard, fileClass) < MAX_CUSTOM_FILES_OF_SHARD) return;
    const victim = await shards.victimIn(shard, fileClass);
    if (victim !== undefined) await evictFile(victim.file);
  }

  async function write(key: string, content: Buffer, fileClass: FileClass): Promise<void> {
    const file = await fileNameOf(key, content, fileClass);
    const shard = shardOf(file.digest);
    const release = usage.reserve(file.bytes, fileClass);
    try {
      await evictSurplus();
      await makeRoomIn(shard, fileClass);
      await shards.change(shard, async (files) => {
        await writeWhole(pathOf(file), temporaryDirectory, content, clock.now());
        for (const earlier of files.filter(({ digest }) => digest === file.digest)) {
          if (!isSame(earlier, file)) await removeIfAllowed(pathOf(earlier));
        }
        return [...files.filter(({ digest }) => digest !== file.digest), file];
      });
    } finally {
      release();
    }
    // Concurrent writes may have exceeded the quota together.
    await evictSurplus();
  }

  async function erase(shardNames: Iterable<string>, isErased: (file: FileName) => boolean) {
    const erased = { files: 0, bytes: 0 };
    for (const shard of shardNames) {
      if (!(await filesIn(directory, shard)).some(isErased)) continue;
      for (const { bytes } of await shards.remove(shard, isErased)) {
        erased.files += 1;
        erased.bytes += fileBytesOf(bytes);
      }
    }
    return erased;
  }

  return {
    async get(key: string): Promise<Buffer | undefined> {
      const file = await shards.find(digestOf(key));
      const found = file && (await readIfPresent(pathOf(file)));
      if (file === undefined || found === undefined) return undefined;
      if (!(await isContentOf(file, found.content))) return discardDamaged(file);
      await markUsed(file, found.stats);
      return found.content;
    },

    /** Returns the path of the stored file, for another process to read. */
    async findPath(key: string): Promise<string | undefined> {
      const file = await shards.find(digestOf(key));
      const found = file && (await statsOf(pathOf(file)));
      if (file === undefined || found === undefined) return undefined;
      if (found.size !== file.bytes) return discardDamaged(file);
      await markUsed(file, found);
      return pathOf(file);
    },

    async set(key: string, bytes: Buffer, fileClass: FileClass): Promise<void> {
      if (bytes.length === 0 || !usage.hasRoomFor(bytes.length, fileClass)) {
        const digest = digestOf(key);
        await shards.remove(shardOf(digest), (file) => file.digest === digest);
        return;
      }
      try {
        await write(key, bytes, fileClass);
      } catch (error) {
        throw new Error(`An image cannot be stored in ${directory}: ${reasonOf(error)}.`, { cause: error });
      }
      if (mustScanAgain) scanning = scan();
    },

    /**
     * Removes the files of these channels, also those of other processes. Lists only the directories of these
     * channels. Rejects if a file cannot be removed.
     *
     * @returns the number of the removed files and their disk usage
     */
    async erase(channelIds: readonly string[] | 'all') {
      if (channelIds === 'all') return erase(await shardsIn(directory), () => true);
      const digests = new Set(channelIds.map(channelDigestOf));
      const ofChannels = new Set([...digests].flatMap(shardsOfChannel));
      return erase(ofChannels, (file) => digests.has(channelDigestIn(file)));
    },

    stats: usage.stats,

    async close(): Promise<void> {
      stop.abort();
      await scanning;
    },
  };
}

function isSame(one: FileName, other: FileName): boolean {
  return one.digest === other.digest && relativePathOf(one) === relativePathOf(other);
}

function reasonOf(error: unknown): string {
  if (hasErrorCode(error, 'ENOSPC', 'EDQUOT')) return 'the disk is full';
  if (hasErrorCode(error, 'EROFS')) return 'the disk is read-only';
  if (hasErrorCode(error, 'EACCES', 'EPERM')) return 'this user may not write there';
  return error instanceof Error ? error.message : String(error);
}
