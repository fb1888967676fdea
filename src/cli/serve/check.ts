import { once } from 'node:events';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { chooseCatalogFolder } from '../../app/catalog.ts';
import { cachePaths } from '../../cache/cache-file.ts';
import type { Config } from '../../config/settings.ts';
import { hasErrorCode, nearestExisting } from '../../lib/file-system.ts';
import { createRedisConnection } from '../../lib/redis/connection.ts';
import { filesOfDatabase } from '../../lib/sqlite.ts';
import { CatalogUnusableError, readChannelFile } from '../../sources/catalog/channel-file.ts';
import { formatQuantity } from '../command.ts';
import { findRunningService, type RunningService } from './data-dir-lock.ts';
import { describeListenError, findWriteProblem, type ListenerSettings } from './problems.ts';

interface Finding {
  /** `note`: not a mistake, but worth knowing; `error`: the service could not start or work. */
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  readonly text: string;
}

/**
 * Checks everything that a start needs besides valid settings. Starts nothing and leaves no files behind.
 *
 * @param envFile the path of the `.env` file that was read, or a note that there is none
 * @param warnings about names that may be misspelled settings
 */
export async function checkStart(config: Config, envFile: string, warnings: readonly string[]): Promise<Finding[]> {
  const { dataDir, redisUrl, sources, host, port, consoleHost, consolePort } = config;
  const running = findRunningService(dataDir);
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
    ...checkRunning(running, listeners),
    ...(redisUrl === undefined ? [] : [await checkRedis(redisUrl)]),
    ...(sources.includes('catalog') ? [await checkCatalog(chooseCatalogFolder(config))] : []),
    ...(await Promise.all(listeners.map((listener) => checkPort(listener, running)))),
  ];
}

/** Two services can share a directory, but each waits for the writes of the other. */
function checkRunning(running: RunningService | undefined, listeners: readonly ListenerSettings[]): Finding[] {
  if (running === undefined) return [];
  const isSame = listeners.some(({ setting, port }) => port !== 0 && running.ports[setting] === port);
  if (isSame) return [{ level: 'note', text: `The service is running (process ${running.pid})` }];
  const text = `Another service (process ${running.pid}) uses this DATA_DIR: give each its own`;
  return [{ level: 'warning', text }];
}

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

async function checkPort(listener: ListenerSettings, running: RunningService | undefined): Promise<Finding> {
  const { setting, host, port } = listener;
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    if (hasErrorCode(error, 'EADDRINUSE') && running?.ports[setting] === port) {
      return { level: 'note', text: `${setting}: ${port} on ${host} is used by the running service` };
    }
    return { level: 'error', text: describeListenError(listener, error) };
  }
  server.close();
  await once(server, 'close');
  return { level: 'ok', text: `${setting}: ${port === 0 ? 'a port' : port} on ${host} is free` };
}

/** Checks whether this user can use the data directory and the images in it. */
async function checkDataDir(dataDir: string): Promise<Finding> {
  const unwritable = await findWriteProblem(dataDir);
  if (unwritable !== undefined) return { level: 'error', text: unwritable };
  if (nearestExisting(dataDir) !== dataDir) return { level: 'ok', text: `DATA_DIR ${dataDir} will be created` };
  const { database, originals } = cachePaths(dataDir);
  const problem = await findAccessProblem([...filesOfDatabase(database), originals], 'written');
  if (problem === undefined) return { level: 'ok', text: `DATA_DIR ${dataDir} is writable` };
  return { level: 'error', text: `DATA_DIR ${dataDir} is not usable: ${problem}` };
}

const MODES = { read: constants.R_OK, written: constants.R_OK | constants.W_OK };

/** Finds files that this user may not access, often because another user ran the service. Missing files are fine. */
async function findAccessProblem(paths: readonly string[], mode: keyof typeof MODES): Promise<string | undefined> {
  const checks = paths.map(async (path) => {
    try {
      await access(path, MODES[mode]);
      return undefined;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' ? undefined : `${path} cannot be ${mode} (${code})`;
    }
  });
  const problems = (await Promise.all(checks)).filter((problem) => problem !== undefined);
  return problems.length > 1 ? `${problems[0]}, and ${problems.length - 1} more` : problems[0];
}
