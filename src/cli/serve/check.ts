import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { access, constants, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { chooseCatalogFolder } from '../../app/catalog.ts';
import { cachePath } from '../../cache/cache-file.ts';
import type { Config } from '../../config/settings.ts';
import { hasErrorCode, nearestExisting } from '../../lib/file-system.ts';
import { describeFailure } from '../../lib/logger.ts';
import { createRedisConnection } from '../../lib/redis/connection.ts';
import { filesOfDatabase } from '../../lib/sqlite.ts';
import { CatalogUnusableError, readChannelFile } from '../../sources/catalog/channel-file.ts';
import { formatQuantity } from '../command.ts';
import { isMarked } from './data-dir-lock.ts';
import { describeListenError, type ListenerSettings } from './listen-error.ts';

interface Finding {
  /** `error`: the service could not start or work. */
  readonly level: 'ok' | 'warning' | 'error';
  readonly text: string;
}

/**
 * Checks everything that a start needs besides valid settings. Starts nothing and leaves no files behind.
 *
 * @param envFile the path of the `.env` file that was read, or a note that there is none
 * @param warnings about the settings
 */
export async function checkStart(config: Config, envFile: string, warnings: readonly string[]): Promise<Finding[]> {
  const { dataDir, redisUrl, sources, host, port, consoleHost, consolePort } = config;
  const privateListener: ListenerSettings = { setting: 'CONSOLE_PORT', host: consoleHost, port: consolePort };
  const listeners: readonly ListenerSettings[] = [
    { setting: 'PORT', host, port },
    // With port 0 there is no private listener.
    ...(consolePort === 0 ? [] : [privateListener]),
  ];
  return [
    { level: 'ok', text: `.env: ${envFile}` },
    ...warnings.map((text): Finding => ({ level: 'warning', text })),
    await checkDataDir(resolve(dataDir)),
    ...(redisUrl === undefined ? [] : [await checkRedis(redisUrl)]),
    ...(sources.includes('catalog') ? [await checkCatalog(chooseCatalogFolder(config))] : []),
    ...(isMarked(dataDir) ? [IN_USE] : await Promise.all(listeners.map(checkPort))),
  ];
}

/** It is usually the service that will be restarted. */
const IN_USE: Finding = {
  level: 'warning',
  text: 'A running service uses this DATA_DIR, so the ports are not checked. A second service needs its own.',
};

async function checkRedis(url: string): Promise<Finding> {
  let problem: string | null = null;
  const connection = await createRedisConnection({
    url,
    onStateChange(state) {
      problem = state;
    },
  });
  connection.close();
  if (problem === null) return { level: 'ok', text: 'Redis responds' };
  const text = `Redis is not usable: ${problem}; the service starts and works alone until Redis can be used`;
  return { level: 'warning', text };
}

async function checkCatalog(folder: string): Promise<Finding> {
  try {
    const { id: channels } = await readChannelFile(folder);
    return { level: 'ok', text: `CATALOG ${folder} has ${formatQuantity(channels.size, 'channel')}` };
  } catch (error) {
    if (!(error instanceof CatalogUnusableError)) throw error;
    return { level: 'error', text: error.message };
  }
}

async function checkPort(listener: ListenerSettings): Promise<Finding> {
  const { setting, host, port } = listener;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    return { level: 'error', text: describeListenError(listener, error) };
  }
  server.close();
  await once(server, 'close');
  return { level: 'ok', text: `${setting}: ${port === 0 ? 'a port' : port} on ${host} is free` };
}

/** A start writes as much. */
const CHECKED_BYTES = 256 * 1024;

/**
 * Checks whether this user can write in the data directory, or in the one that it would be created in, and can change the
 * files of an earlier start, often of another user.
 */
async function checkDataDir(dataDir: string): Promise<Finding> {
  const existing = nearestExisting(dataDir);
  try {
    // Detects missing rights, a read-only disk and a full disk, which often has room for an empty directory.
    const directory = await mkdtemp(join(existing, 'pennant-check-'));
    try {
      await writeFile(join(directory, 'file'), Buffer.alloc(CHECKED_BYTES, 1));
    } finally {
      await rm(directory, { recursive: true });
    }
    for (const path of filesOfDatabase(cachePath(dataDir)).filter((path) => existsSync(path))) {
      await access(path, constants.R_OK | constants.W_OK);
    }
  } catch (error) {
    const advice = hasErrorCode(error, 'EACCES') ? '. Give it to the user of the service, or set another DATA_DIR' : '';
    return { level: 'error', text: `DATA_DIR ${dataDir} is not writable: ${describeFailure(error)}${advice}` };
  }
  return { level: 'ok', text: `DATA_DIR ${dataDir} ${existing === dataDir ? 'is writable' : 'will be created'}` };
}
