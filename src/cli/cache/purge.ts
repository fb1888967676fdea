import { existsSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { Environment } from '../../config/environment.ts';
import { type Config, parseConfig } from '../../config/settings.ts';
import { imagesDirectory } from '../../image-store/file-names.ts';
import { describeFailure } from '../../lib/logger.ts';
import type { Purge, PurgedChannel } from '../../services/purge.ts';
import { chooseStore } from '../../store/registry.ts';
import { removalOf } from '../../store/removal.ts';
import {
  type CommandContext,
  CommandFailure,
  defineCommand,
  formatBytes,
  formatCount,
  requireRefs,
  UsageError,
} from '../command.ts';

export const purgeCommand = defineCommand({
  usage: 'cache purge ID|@handle',
  summary: 'Removes one channel: record, names, originals and images. Also removes all searches.',
  help: `The next request loads it from the sources again. The URL of a channel page and a user name work, too. A
name is looked up in the stored data; an ID always finds everything. A stored "no such channel" of the
name is removed as well, and so are all stored searches: any of them may contain the channel.

If a service runs on this DATA_DIR and its private listener responds (CONSOLE_HOST, CONSOLE_PORT), the
service removes the values, also from its memory. Otherwise only the stores are purged; a service that
runs nevertheless keeps its memory for up to an hour. With REDIS_URL the channel is also removed from
Redis, and from memory and images of all other instances within 2 s; an instance that is not running
does it at its next start. The catalog does not change.
Exit code: 0 nothing is left, 1 nothing is stored under that name or not all could be removed, 2 invalid
arguments.`,
  argumentName: 'ID|@handle',
  async run({ argument }, { env, stdout, stderr }) {
    const refs = requireRefs(argument);
    const config = parseCacheConfig(env);
    const byService = await askRunningService(config, { channel: argument });
    const purged = byService ?? (await purgeStores(config, (purge) => purge.purgeChannel(refs)));
    if (purged === undefined) {
      throw new CommandFailure(`Nothing is stored by the name ${argument}; a channel ID always finds what there is.`);
    }
    stdout.write(`${describe(purged)}\n`);
    if (byService === undefined) stderr.write(describeRest(config));
    return true;
  },
});

/**
 * Removes everything stored of a channel, through the running service if it responds, and reports what was removed.
 *
 * @throws CommandFailure if something could not be removed
 */
export async function forgetChannel(config: Config, channelId: string): Promise<string> {
  const byService = await askRunningService(config, { channel: channelId });
  if (byService !== undefined) return describe(byService);
  if (!hasStores(config)) return `Nothing was stored of ${channelId}.`;
  return describe({ channelId, ...(await purgeStores(config, (purge) => purge.remove(removalOf([channelId])))) });
}

/** Opening the stores would create them. */
function hasStores(config: Config): boolean {
  const files = [...chooseStore(config).files, imagesDirectory(config.dataDir)];
  return config.redisUrl !== undefined || files.some(existsSync);
}

/** @throws CommandFailure if something could not be removed */
async function purgeStores<T>(config: Config, run: (purge: Purge) => Promise<T>): Promise<T> {
  const { openPurge } = await import('../../app/invalidation.ts');
  const stores = await openPurge(config);
  try {
    return await run(stores.purge);
  } catch (error) {
    const reasons = [describeFailure(error), ...stores.problems()].join('; ');
    throw new CommandFailure(`Not everything could be removed: ${reasons}`, { cause: error });
  } finally {
    await stores.close();
  }
}

/** A note on a service whose memory may still have the removed values. With Redis, services are notified through it. */
function describeRest(config: Config): string {
  if (config.redisUrl !== undefined) return '';
  const origin = consoleOrigin(config);
  const where = origin === undefined ? 'CONSOLE_PORT is 0' : `at ${origin}`;
  return `No running service of this DATA_DIR was notified (${where}). A running one still has the data in memory.\n`;
}

function describe({ channelId, entries, images, imageBytes }: PurgedChannel): string {
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
that all instances share are removed as well, but not the rate limits, and every other instance empties
its own caches.
Exit code: 0 the cache is empty, 1 it is not, 2 invalid arguments.`,
  options: { yes: { type: 'boolean' } },
  async run({ options }, context) {
    const config = parseCacheConfig(context.env);
    if (options.yes !== true && !(await isConfirmed(config, context))) {
      context.stderr.write('Nothing was removed.\n');
      return false;
    }
    const byService = await askRunningService(config, { everything: true });
    if (byService === undefined) await purgeStores(config, (purge) => purge.purgeAll());
    context.stdout.write('The cache is empty.\n');
    if (byService === undefined) context.stderr.write(describeRest(config));
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

type PurgeRequest = { readonly channel: string } | { readonly everything: true };

const RESPONSE_MS = 60_000;

/**
 * Sends the purge to the running service of this `DATA_DIR`, because only it can clear its memory. Returns `undefined` if
 * no service responds, if it has another `DATA_DIR`, or if nothing is stored under the name.
 *
 * @throws CommandFailure if the service reports a failure
 */
export async function askRunningService(config: Config, purge: PurgeRequest): Promise<PurgedChannel | undefined> {
  const origin = consoleOrigin(config);
  if (origin === undefined) return undefined;
  const dataDir = await realpath(config.dataDir);
  const response = await fetch(`${origin}/purge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-pennant-console': 'command line' },
    body: JSON.stringify({ ...purge, dataDir }),
    signal: AbortSignal.timeout(RESPONSE_MS),
  }).catch((error: unknown) => {
    // Nothing listens at this address.
    if (error instanceof TypeError) return undefined;
    throw new CommandFailure(`${origin}/purge did not respond within ${RESPONSE_MS / 1000} s.`, { cause: error });
  });
  if (response === undefined) return undefined;
  if (response.status >= 500) {
    const { detail = `status ${response.status}` } = (await response.json().catch(() => ({}))) as { detail?: string };
    throw new CommandFailure(`The running service at ${origin} could not remove everything: ${detail}`);
  }
  return response.ok ? ((await response.json()) as PurgedChannel) : undefined;
}

/** The address of the private listener on this machine. `undefined`: there is none. */
function consoleOrigin({ consoleHost, consolePort }: Config): string | undefined {
  if (consolePort === 0) return undefined;
  const host = consoleHost === '0.0.0.0' ? '127.0.0.1' : consoleHost === '::' ? '::1' : consoleHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${consolePort}`;
}
