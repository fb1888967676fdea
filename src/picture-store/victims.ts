import type { Clock } from '../lib/clock.ts';
import { statsOf } from './atomic-write.ts';
import { type FileClass, type FileName, SHARD_COUNT, shardAt } from './file-names.ts';
import type { Shards } from './shards.ts';

interface Victim {
  readonly file: FileName;
  /** The last use that is recorded; 0 for a file of the wrong length or with a time in the future. */
  readonly usedAtMs: number;
}

/**
 * The names of the directories are digests, so the files of any directory are a random sample of all files. The oldest 8
 * of 256 are among the oldest 3 % of all files on average, and almost never above 8 %. All files of a smaller store are read.
 */
const SAMPLE_FILES = 256;
const VICTIMS_OF_SAMPLE = 8;
/** A time further in the future was written with a wrong clock. It would protect its file until then. */
const MAX_AHEAD_MS = 3_600_000;

/** Selects files to evict: approximately the least recently used. */
export function createVictims(shards: Shards, clock: Clock) {
  const chosen: Record<FileClass, Victim[]> = { plain: [], custom: [] };

  async function inspect(file: FileName): Promise<Victim | undefined> {
    const found = await statsOf(shards.pathOf(file));
    if (found === undefined) return undefined;
    const isSound = found.size === file.bytes && found.mtimeMs <= clock.now() + MAX_AHEAD_MS;
    return { file, usedAtMs: isSound ? found.mtimeMs : 0 };
  }

  /** One after the other: pictures that clients wait for are read in between. */
  async function choose(fileClass: FileClass): Promise<Victim[]> {
    const sample: Victim[] = [];
    for (const shard of shardsInRandomOrder()) {
      if (sample.length >= SAMPLE_FILES) break;
      if (!shards.mayHave(shard, fileClass)) continue;
      // Also corrects the sums of a directory that another process has changed.
      const files = await shards.change(shard, async (unchanged) => unchanged);
      const ofClass = files.filter((file) => file.fileClass === fileClass);
      for (const file of someOf(ofClass, SAMPLE_FILES - sample.length)) {
        const found = await inspect(file);
        if (found !== undefined) sample.push(found);
      }
    }
    return sample.sort((left, right) => left.usedAtMs - right.usedAtMs).slice(0, VICTIMS_OF_SAMPLE);
  }

  return {
    /** Returns `undefined` if no file of the class was found. */
    async next(fileClass: FileClass): Promise<Victim | undefined> {
      for (let victim = chosen[fileClass].shift(); victim !== undefined; victim = chosen[fileClass].shift()) {
        const found = await inspect(victim.file);
        // Used since then, or gone.
        if (found !== undefined && found.usedAtMs <= victim.usedAtMs) return victim;
      }
      chosen[fileClass] = await choose(fileClass);
      return chosen[fileClass].shift();
    },
  };
}

/** Every directory once. An odd step visits all of a power of two. */
function* shardsInRandomOrder(): Generator<string> {
  const first = Math.floor(Math.random() * SHARD_COUNT);
  const step = 1 + 2 * Math.floor(Math.random() * (SHARD_COUNT / 2));
  for (let number = 0; number < SHARD_COUNT; number += 1) yield shardAt((first + number * step) % SHARD_COUNT);
}

/** This many consecutive files from a random position, because file systems list files in an order of their own. */
function someOf<T>(items: readonly T[], count: number): T[] {
  const first = Math.floor(Math.random() * items.length);
  return [...items.slice(first), ...items.slice(0, first)].slice(0, count);
}
