import { statSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { Environment } from '../../config/environment.ts';
import { type Config, parseConfig } from '../../config/settings.ts';
import { channelIdRef } from '../../domain/identifier.ts';
import { imagePaths } from '../../image-store/schema.ts';
import { type Purge, type PurgedChannel, PurgeFailed } from '../../services/purge.ts';
import { chooseStoreDriver } from '../../store/registry.ts';
import {
  type CommandContext,
  CommandFailure,
  defineCommand,
  formatBytes,
  formatCount,
  requireRefs,
  UsageError,
} from '../command.ts';
import { findLatestStore } from '../serve/data-dir-lock.ts';
import { type PurgeRequest, purgeByService } from './running-service.ts';

export const purgeCommand = defineCommand({
  usage: 'cache purge ID|@handle',
  summary: 'Removes one channel: record, names, originals and images. Also removes all searches.',
  help: `The next request loads it from the sources again. The URL of a channel page and a user name work, too. A
name is looked up in the stored data; if it is not there, use the ID. A stored "no such channel" of the
name is removed as well, and so are all stored searches: any of them may contain the channel.

If a service runs on this DATA_DIR and its private listener responds, the service removes the values,
also from its memory. Otherwise the command removes them from the stores, and a running service empties
its memory within a second. With REDIS_URL the channel is removed from Redis, and every instance forgets it
within 2 s. Other instances keep images on their disks, but serve none of an earlier original.
Nothing is tried again: if something cannot be removed, the command says so. The catalog does not change.
Exit code: 0 nothing is left, 1 nothing is stored under that name or not all could be removed, 2 invalid
arguments.`,
  argumentName: 'ID|@handle',
  async run({ argument }, { env, stdout, stderr }) {
    const refs = requireRefs(argument);
    const config = parseCacheConfig(env);
    const { purged, where, isByService } = await runPurge(config, { channel: argument }, (purge) =>
      purge.purgeChannel(refs),
    );
    const [first] = refs;
    if (purged === undefined && first?.kind !== 'id') {
      throw new CommandFailure(`Nothing is stored under the name ${argument} (${where}). Purge the channel by its ID.`);
    }
    stdout.write(`${purged === undefined ? `Nothing was stored of ${first?.value}.` : purgeResult(purged)}\n`);
    if (!isByService) stderr.write(storesNotice(where));
    return true;
  },
});

/**
 * Removes everything stored of a channel, through the running service if it responds, and reports what was removed.
 *
 * @throws CommandFailure if something could not be removed
 */
export async function forgetChannel(config: Config, channelId: string): Promise<string> {
  const request = { channel: channelId };
  const { purged } = await runPurge(config, request, (purge) => purge.purgeChannel([channelIdRef(channelId)]));
  return purged === undefined ? `Nothing was stored of ${channelId}.` : purgeResult(purged);
}

/**
 * Purges by the running service if there is one, otherwise in the stores.
 *
 * @throws CommandFailure if something could not be removed
 */
async function runPurge<T>(config: Config, request: PurgeRequest, purge: (purge: Purge) => Promise<T>) {
  const byService = await purgeByService(config, request);
  if (byService !== undefined) return { purged: byService.purged, where: byService.origin, isByService: true };
  const { where, files } = chooseStoreDriver(config);
  requireStoreOfService(config);
  // Opening the stores would create them. Throws if another user's files cannot be seen.
  const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
  const hasStores = config.redisUrl !== undefined || [...files, imagePaths(config.dataDir).database].some(isThere);
  return { purged: hasStores ? await purgeStores(config, purge) : undefined, where, isByService: false };
}

async function purgeStores<T>(config: Config, run: (purge: Purge) => Promise<T>): Promise<T> {
  const { openPurge } = await import('../../app/purges.ts');
  const { purge, close } = await openPurge(config);
  try {
    return await run(purge);
  } catch (error) {
    if (!(error instanceof PurgeFailed)) throw error;
    throw new CommandFailure(`${error.message}.`, { cause: error });
  } finally {
    await close();
  }
}

/** For a purge without the running service. */
function storesNotice(where: string): string {
  return `Removed from ${where}. A running service that uses it empties its memory within a second.\n`;
}

function purgeResult({ channelId, entries, images, imageBytes }: PurgedChannel): string {
  const { channel = 0, name = 0, search = 0, original = 0, published = 0 } = entries;
  const counts: [number, string, string?][] = [
    [channel, 'record'],
    [name, 'name'],
    [search, 'search', 'searches'],
    [original + published, 'detail'],
    [images, `image (${formatBytes(imageBytes)})`, `images (${formatBytes(imageBytes)})`],
  ];
  const removed = counts.filter(([count]) => count > 0);
  const parts = removed.map(([count, one, several]) => formatCount(count, one, several)).join(', ');
  if (channelId === null) return `No channel is known by that name. Removed: ${parts}.`;
  return parts === '' ? `Nothing was stored of ${channelId}.` : `Purged ${channelId}: ${parts}.`;
}

export const clearCommand = defineCommand({
  usage: 'cache clear [--yes]',
  summary: 'Empties the cache: records, searches, originals and images. The catalog stays.',
  help: `Asks for confirmation on a terminal; elsewhere --yes is required. A running service of this DATA_DIR
is notified: it empties its memory and loads everything from its sources again. With REDIS_URL the values
that all instances share are removed as well, but not the rate limits. Every other instance empties its
memory, and keeps images on its disk, but serves none of an earlier original.
Exit code: 0 the cache is empty, 1 it is not, 2 invalid arguments.`,
  options: { yes: { type: 'boolean' } },
  async run({ options }, context) {
    const config = parseCacheConfig(context.env);
    if (options.yes !== true && !(await isConfirmed(config, context))) {
      context.stderr.write('Nothing was removed.\n');
      return false;
    }
    const { where, isByService } = await runPurge(config, { everything: true }, (purge) => purge.purgeAll());
    context.stdout.write('The cache is empty.\n');
    if (!isByService) context.stderr.write(storesNotice(where));
    return true;
  },
});

async function isConfirmed({ dataDir, redisUrl }: Config, { stdin, stderr }: CommandContext): Promise<boolean> {
  const input = stdin();
  if (input.isTTY !== true) throw new UsageError('There is no terminal for the confirmation: give --yes.');
  const question = createInterface({ input, output: stderr });
  const where = redisUrl === undefined ? dataDir : `${dataDir} and in Redis`;
  try {
    return /^y(es)?$/i.test((await question.question(`Empty the cache in ${where}? [y/N] `)).trim());
  } finally {
    question.close();
  }
}

/**
 * Reads the settings of a service that has already run.
 *
 * @throws CommandFailure if there is no DATA_DIR: it would be created, and the mistake not noticed
 */
export function parseCacheConfig(env: Environment): Config {
  const config = parseConfig(env);
  if (statSync(config.dataDir, { throwIfNoEntry: false })?.isDirectory() === true) return config;
  throw new CommandFailure(`There is no directory ${config.dataDir}: set DATA_DIR, or give --data-dir DIR.`);
}

/**
 * Checks that the settings name the store of the service that runs on this data directory, or ran last.
 *
 * @throws CommandFailure
 */
export function requireStoreOfService({ dataDir, redisUrl }: Config): void {
  const own = redisUrl === undefined ? 'cache.db' : 'Redis';
  const store = findLatestStore(dataDir) ?? own;
  if (store === own) return;
  throw new CommandFailure(
    `The service of ${dataDir} stores in ${store}, and this command has ${own}. The command did nothing. ` +
      'Give the settings of the service: --env-file FILE.',
  );
}
