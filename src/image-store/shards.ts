import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { untilAborted } from '../lib/work.ts';
import { countEntries, type Statistics } from '../store/stored-kinds.ts';
import { listed, removeIfAllowed, removeIfEmpty, statsOf } from './atomic-write.ts';
import type { DiskUsage } from './disk-usage.ts';
import {
  type FileClass,
  type FileName,
  fileBytesOf,
  parseFileName,
  relativePathOf,
  SHARD_COUNT,
  shardAt,
  shardOf,
} from './file-names.ts';

interface Victim {
  readonly file: FileName;
  /** The last use that is recorded; 0 for a file of the wrong length or with a time in the future. */
  readonly usedAtMs: number;
}

/** The scan waits for this multiple of the time that it has worked, so that a start and its first images are not slower. */
const PAUSE_FACTOR = 9;
/** The limit when the disk is slow or busy: 4,096 directories then take some minutes. */
const MAX_PAUSE_MS = 20;
/**
 * The oldest 8 of 256 random files are among the oldest 3 % of all files on average, and almost never above 8 %. A directory
 * has files of 1/256 of the channels, chosen by their digests, so a sample has files of several directories. Nearly all
 * files of a smaller store are read.
 */
const SAMPLE_FILES = 256;
const SAMPLE_FILES_OF_SHARD = 16;
const VICTIMS_OF_SAMPLE = 8;
/** A time further in the future was written with a wrong clock. It would protect its file until then. */
const MAX_AHEAD_MS = 3_600_000;

/**
 * The directories that the files are distributed to. Changes of one directory run one after the other, and each begins
 * with a list of its files. So the sums of `usage` are exact for this process and include changes by others.
 */
export function createShards(directory: string, usage: DiskUsage, clock: Clock) {
  const turns = new Map<string, Promise<unknown>>();
  const victims: Record<FileClass, Victim[]> = { plain: [], custom: [] };
  let isCounted = false;

  function pathOf(file: FileName): string {
    return join(directory, relativePathOf(file));
  }

  /**
   * Waits for the earlier changes of the same directory.
   *
   * @param work gets the files in the directory and returns those that are in it afterwards
   */
  function change(
    shard: string,
    work: (files: readonly FileName[]) => Promise<readonly FileName[]>,
  ): Promise<readonly FileName[]> {
    const result = (turns.get(shard) ?? Promise.resolve()).then(async () => {
      const before = await filesIn(directory, shard);
      usage.count(shard, before);
      const after = await work(before);
      if (after !== before) usage.count(shard, after);
      return after;
    });
    const turn = result
      .catch(() => undefined)
      .finally(() => {
        if (turns.get(shard) === turn) turns.delete(shard);
      });
    turns.set(shard, turn);
    return result;
  }

  /** Removes the files, and their directory if no other is left. They stay counted if one cannot be removed. */
  async function remove(shard: string, isRemoved: (file: FileName) => boolean): Promise<readonly FileName[]> {
    const removed: FileName[] = [];
    await change(shard, async (files) => {
      for (const file of files.filter(isRemoved)) {
        await rm(pathOf(file), { force: true });
        removed.push(file);
      }
      if (removed.length === files.length) await removeIfEmpty(join(directory, shard));
      return removed.length === 0 ? files : files.filter((file) => !removed.includes(file));
    });
    return removed;
  }

  /** Two contents of one key: another process, or one that was killed, has left the older file. */
  async function withoutOutdated(files: readonly FileName[]): Promise<readonly FileName[]> {
    const outdated = new Set<FileName>();
    for (const same of Map.groupBy(files, ({ digest }) => digest).values()) {
      if (same.length === 1) continue;
      const stats = await Promise.all(same.map((file) => statsOf(pathOf(file))));
      const timesMs = stats.map((found) => found?.mtimeMs ?? 0);
      const newest = timesMs.indexOf(Math.max(...timesMs));
      for (const [at, file] of same.entries()) if (at !== newest) outdated.add(file);
    }
    for (const file of outdated) await removeIfAllowed(pathOf(file));
    return outdated.size === 0 ? files : files.filter((file) => !outdated.has(file));
  }

  async function inspect(file: FileName): Promise<Victim | undefined> {
    const found = await statsOf(pathOf(file));
    if (found === undefined) return undefined;
    const isSound = found.size === file.bytes && found.mtimeMs <= clock.now() + MAX_AHEAD_MS;
    return { file, usedAtMs: isSound ? found.mtimeMs : 0 };
  }

  /**
   * Every directory that has files of the class, or may have them because it is not counted yet. At each place of the
   * order, the probability of a directory is proportional to its files: the files of one channel are in few directories.
   */
  function shardsInRandomOrder(fileClass: FileClass): string[] {
    const places: { readonly shard: string; readonly place: number }[] = [];
    for (let number = 0; number < SHARD_COUNT; number += 1) {
      const shard = shardAt(number);
      const files = usage.countOf(shard, fileClass) || (isCounted ? 0 : 1);
      if (files > 0) places.push({ shard, place: -Math.log(Math.random()) / files });
    }
    return places.sort((left, right) => left.place - right.place).map(({ shard }) => shard);
  }

  /** One after the other: images that clients wait for are read in between. */
  async function chooseVictims(fileClass: FileClass): Promise<Victim[]> {
    const sample: Victim[] = [];
    for (const shard of shardsInRandomOrder(fileClass)) {
      if (sample.length >= SAMPLE_FILES) break;
      // Also corrects the sums of a directory that another process has changed.
      const files = await change(shard, async (unchanged) => unchanged);
      sample.push(...(await inspectSome(files, fileClass)));
    }
    return leastRecentlyUsed(sample).slice(0, VICTIMS_OF_SAMPLE);
  }

  async function inspectSome(files: readonly FileName[], fileClass: FileClass): Promise<Victim[]> {
    const ofClass = files.filter((file) => file.fileClass === fileClass);
    const found: Victim[] = [];
    for (const file of someOf(ofClass, SAMPLE_FILES_OF_SHARD)) {
      const victim = await inspect(file);
      if (victim !== undefined) found.push(victim);
    }
    return found;
  }

  return {
    pathOf,
    change,
    remove,

    /** A file with this digest. Does not parse the other names. */
    async find(digest: string): Promise<FileName | undefined> {
      const texts = await listed(join(directory, shardOf(digest)));
      const name = texts.find((text) => text.startsWith(digest) && parseFileName(text) !== undefined);
      return name === undefined ? undefined : parseFileName(name);
    },

    /** A file to evict, approximately the least recently used one; `undefined` if no file of the class was found. */
    async nextVictim(fileClass: FileClass): Promise<Victim | undefined> {
      const chosen = victims[fileClass];
      for (let victim = chosen.shift(); victim !== undefined; victim = chosen.shift()) {
        const found = await inspect(victim.file);
        // Used since then, or gone.
        if (found !== undefined && found.usedAtMs <= victim.usedAtMs) return victim;
      }
      victims[fileClass] = await chooseVictims(fileClass);
      return victims[fileClass].shift();
    },

    /** The same for one directory. */
    async victimIn(shard: string, fileClass: FileClass): Promise<Victim | undefined> {
      return leastRecentlyUsed(await inspectSome(await filesIn(directory, shard), fileClass))[0];
    },

    /**
     * Counts the files of every directory by their names, and removes the older of two contents of one key.
     *
     * @param signal stops the scan without an error
     */
    async scan(signal: AbortSignal): Promise<void> {
      for (const shard of await shardsIn(directory)) {
        if (signal.aborted) return;
        const startedMs = clock.monotonic();
        await change(shard, withoutOutdated);
        await pause(clock, Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * (clock.monotonic() - startedMs)), signal);
      }
      isCounted = true;
    },
  };
}

/** Ends early when the signal is aborted. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return;
  const { promise: elapsed, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  await untilAborted(elapsed, signal).catch(cancel);
}

function leastRecentlyUsed(files: readonly Victim[]): Victim[] {
  return files.toSorted((left, right) => left.usedAtMs - right.usedAtMs);
}

/** This many consecutive files from a random position, because file systems list files in an order of their own. */
function someOf<T>(items: readonly T[], count: number): T[] {
  const first = Math.floor(Math.random() * items.length);
  return [...items.slice(first), ...items.slice(0, first)].slice(0, count);
}

/** The names of the directories below the store's own. */
export async function shardsIn(directory: string): Promise<string[]> {
  return (await listed(directory)).filter((name) => /^[0-9a-f]{3}$/.test(name));
}

/** The store's files in one of the directories. */
export async function filesIn(directory: string, shard: string): Promise<FileName[]> {
  return (await listed(join(directory, shard)))
    .map(parseFileName)
    .filter((name) => name !== undefined)
    .filter(({ digest }) => shardOf(digest) === shard);
}

export async function readFileStatistics(directory: string): Promise<Statistics> {
  const statistics: Statistics = {};
  for (const shard of await shardsIn(directory)) {
    for (const { bytes, fileClass, isOriginal } of await filesIn(directory, shard)) {
      const ofClass = fileClass === 'custom' ? 'ownSizes' : 'variants';
      countEntries(statistics, isOriginal ? 'originals' : ofClass, { entries: 1, bytes: fileBytesOf(bytes) });
    }
  }
  return statistics;
}
