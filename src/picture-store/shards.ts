import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listed, removeIfEmpty } from './atomic-write.ts';
import type { DiskUsage } from './disk-usage.ts';
import { type FileName, isShard, parseFileName, relativePathOf, shardOf } from './file-names.ts';

export type Shards = ReturnType<typeof createShards>;

/**
 * The directories that the files are distributed to. Changes of one directory run one after the other, and each begins
 * with a list of its files. So the sums of `usage` are exact for this process and include changes by others.
 */
export function createShards(directory: string, usage: DiskUsage) {
  const turns = new Map<string, Promise<unknown>>();

  /** Waits for the earlier changes of the same directory. */
  function inTurn<T>(shard: string, work: () => Promise<T>): Promise<T> {
    const result = (turns.get(shard) ?? Promise.resolve()).then(work);
    const turn = result
      .catch(() => undefined)
      .finally(() => {
        if (turns.get(shard) === turn) turns.delete(shard);
      });
    turns.set(shard, turn);
    return result;
  }

  /**
   * @param work gets the files in the directory and returns those that are in it afterwards
   * @returns what `work` has returned
   */
  function change(
    shard: string,
    work: (files: readonly FileName[]) => Promise<readonly FileName[]>,
  ): Promise<readonly FileName[]> {
    return inTurn(shard, async () => {
      const before = await filesIn(directory, shard);
      usage.count(shard, before);
      const after = await work(before);
      if (after !== before) usage.count(shard, after);
      return after;
    });
  }

  /** Removes the files, and their directory if no other is left. They stay counted if one cannot be removed. */
  async function remove(shard: string, isRemoved: (file: FileName) => boolean): Promise<readonly FileName[]> {
    const removed: FileName[] = [];
    await change(shard, async (files) => {
      for (const file of files.filter(isRemoved)) {
        await rm(join(directory, relativePathOf(file)), { force: true });
        removed.push(file);
      }
      if (removed.length === files.length) await removeIfEmpty(join(directory, shard));
      return removed.length === 0 ? files : files.filter((file) => !removed.includes(file));
    });
    return removed;
  }

  return { change, remove };
}

/** The names of the directories below the store's own. */
export async function shardsIn(directory: string): Promise<string[]> {
  return (await listed(directory)).filter(isShard);
}

/** The store's files in one of the directories. */
export async function filesIn(directory: string, shard: string): Promise<FileName[]> {
  return (await listed(join(directory, shard)))
    .filter((text) => text.startsWith(shard))
    .map(parseFileName)
    .filter((name) => name !== undefined);
}

/** A file with this digest. Does not parse the other names. */
export async function findFile(directory: string, digest: string): Promise<FileName | undefined> {
  const texts = await listed(join(directory, shardOf(digest)));
  const name = texts.find((text) => text.startsWith(digest) && parseFileName(text) !== undefined);
  return name === undefined ? undefined : parseFileName(name);
}
