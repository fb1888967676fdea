import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { printable } from '../../domain/printable.ts';
import { describeFailure } from '../../lib/logger.ts';
import { picturesDirectory } from '../../picture-store/file-names.ts';
import type { Purge, Purged, PurgedChannel } from '../../services/purge.ts';
import { requireRefs } from '../command-group.ts';
import { formatBytes, formatCount, UsageError } from '../command-line.ts';
import {
  askRunningService,
  type CacheCommand,
  CacheCommandError,
  type CacheContext,
  requireDataDir,
} from './command.ts';

export const purgeCommand: CacheCommand = {
  usage: 'cache purge ID|@handle',
  summary: 'Forgets one channel: record, names, searches that found it, originals and pictures.',
  help: `The next request loads it from the sources again. The URL of a channel page and a user name work, too. A
name is looked up in what is stored; an ID always finds everything. Stored answers that a name is unknown
are removed as well, and so are searches without results.

If a service runs on this DATA_DIR and its private listener answers (CONSOLE_HOST, CONSOLE_PORT), the
service removes the values, also from its memory. Otherwise only the stores are purged; a service that
runs nevertheless keeps its memory for up to an hour. With REDIS_URL the channel is also removed from
Redis, and from memory and pictures of all other instances within 2 s; an instance that is not running
does it at its next start. The catalog does not change.
Exit code: 0 nothing is left, 1 nothing is stored under that name or not all could be removed, 2 invalid
arguments.`,
  argumentName: 'ID|@handle',
  async run({ argument }, context) {
    const refs = requireRefs(argument);
    requireDataDir(context.dataDir);
    const told = await askRunningService(context, { channel: argument });
    const purged = told ?? (await purgeStores(context, (purge) => purge.purgeChannel(refs)));
    if (purged === undefined) {
      context.stderr.write(
        `Nothing is stored by the name ${printable(argument)}; a channel ID always finds what there is.\n`,
      );
      return false;
    }
    context.stdout.write(`${describe(purged)}\n`);
    noteOthers(context, told !== undefined);
    return true;
  },
};

/**
 * Removes everything stored of a channel, through the running service if it responds, and reports what was removed.
 *
 * @throws CacheCommandError if something could not be removed
 */
export async function forgetChannel(context: CacheContext, channelId: string): Promise<string> {
  const told = await askRunningService(context, { channel: channelId });
  if (told !== undefined) return describe(told);
  if (!hasStores(context)) return `Nothing was stored of ${channelId}.`;
  return describe({ channelId, ...(await purgeStores(context, (purge) => purge.purgeChannels([channelId]))) });
}

/** Opening the stores would create them. */
function hasStores({ dataDir, redis, storeIn }: CacheContext): boolean {
  return redis !== undefined || [...storeIn(dataDir).files, picturesDirectory(dataDir)].some(existsSync);
}

/** @throws CacheCommandError if something could not be removed */
async function purgeStores<T>({ openStores, dataDir }: CacheContext, run: (purge: Purge) => Promise<T>): Promise<T> {
  const stores = await openStores(dataDir);
  try {
    return await run(stores.purge);
  } catch (error) {
    const reasons = [describeFailure(error), ...stores.problems()].join('; ');
    throw new CacheCommandError(`Not everything could be removed: ${reasons}`, { cause: error });
  } finally {
    await stores.close();
  }
}

/** Services that may still have the removed data in memory. */
function noteOthers({ stderr, consoleOrigin, redis }: CacheContext, isServiceTold: boolean): void {
  // A service with Redis is told through it.
  if (isServiceTold || redis !== undefined) return;
  const where = consoleOrigin === undefined ? 'CONSOLE_PORT is 0' : `at ${consoleOrigin}`;
  stderr.write(`No running service of this DATA_DIR was told (${where}): one would still have it in memory.\n`);
}

function describe({ channelId, ...purged }: PurgedChannel): string {
  const parts = partsOf(purged);
  if (channelId === null) return `No channel is known by that name. Forgotten: ${parts.join(', ')}.`;
  return parts.length === 0 ? `Nothing was stored of ${channelId}.` : `Purged ${channelId}: ${parts.join(', ')}.`;
}

function partsOf({ entries, pictures, pictureBytes }: Purged): string[] {
  const { channel = 0, name = 0, search = 0, original = 0, published = 0, refinement = 0 } = entries;
  const counts: [number, string, string?][] = [
    [channel, 'record'],
    [name, 'name'],
    [search, 'search', 'searches'],
    [original + published + refinement, 'detail'],
    [pictures, `picture (${formatBytes(pictureBytes)})`, `pictures (${formatBytes(pictureBytes)})`],
  ];
  return counts.filter(([count]) => count > 0).map(([count, one, several]) => formatCount(count, one, several));
}

export const clearCommand: CacheCommand = {
  usage: 'cache clear [--yes]',
  summary: 'Empties the cache: records, searches, originals and pictures. The catalog stays.',
  help: `Asks for confirmation on a terminal; elsewhere --yes is required. A running service of this DATA_DIR
is notified: it empties its memory and loads everything from its sources again. With REDIS_URL the values
that all instances share are removed as well, but not the rate limits, and every other instance empties
its own caches.
Exit code: 0 the cache is empty, 1 it is not, 2 invalid arguments.`,
  options: { yes: { type: 'boolean' } },
  async run({ options }, context) {
    requireDataDir(context.dataDir);
    if (options.yes !== true && !(await isMeant(context))) {
      context.stderr.write('Nothing was removed.\n');
      return false;
    }
    const told = await askRunningService(context, { everything: true });
    if (told === undefined) await purgeStores(context, (purge) => purge.purgeAll());
    context.stdout.write('The cache is empty.\n');
    noteOthers(context, told !== undefined);
    return true;
  },
};

async function isMeant({ dataDir, redis, stdin, stderr }: CacheContext): Promise<boolean> {
  if (stdin.isTTY !== true) throw new UsageError('There is no terminal to ask on: give --yes if it is meant.');
  const question = createInterface({ input: stdin, output: stderr });
  const what = redis === undefined ? dataDir : `${dataDir} and in Redis`;
  try {
    return /^y(es)?$/i.test((await question.question(`Empty the cache in ${what}? [y/N] `)).trim());
  } finally {
    question.close();
  }
}
