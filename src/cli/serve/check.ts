import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { hasErrorCode } from '../../lib/error-code.ts';
import { createRedisConnection } from '../../lib/redis/connection.ts';
import type { RedisAddress } from '../../lib/redis/redis-url.ts';
import { countChannels } from '../../sources/catalog/reader.ts';
import { CatalogUnusableError, catalogPaths } from '../../sources/catalog/schema.ts';
import { cachePaths } from '../../store/cache-paths.ts';
import { findSchemaProblem } from '../../store/sqlite-schema.ts';
import { formatCount } from '../format.ts';
import { checkDataDir, findAccessProblem, withLog } from './check-data-dir.ts';
import { findRunningService, type RunningService } from './data-dir-lock.ts';

export interface CheckSettings {
  /** Which file of settings was read, or that there is none. */
  readonly envFile: string;
  readonly dataDir: string;
  /** Whether the catalog is among the sources. */
  readonly hasCatalog: boolean;
  readonly listeners: readonly ListenerSettings[];
  readonly redis: RedisAddress | undefined;
  /** What the settings themselves give to think of. */
  readonly warnings: readonly string[];
}

interface ListenerSettings {
  /** The setting of its port. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

export interface Finding {
  /** `note`: no mistake, but worth knowing; `error`: the service would not start, or could not do its work. */
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  readonly text: string;
}

/** Looks at everything that a start needs besides sound settings. Starts nothing and leaves nothing behind. */
export async function checkStart(settings: CheckSettings): Promise<Finding[]> {
  const { envFile, dataDir, hasCatalog, listeners, redis, warnings } = settings;
  const running = findRunningService(dataDir);
  return [
    { level: 'ok', text: `.env: ${envFile}` },
    ...warnings.map((text): Finding => ({ level: 'warning', text })),
    await checkDataDir(resolve(dataDir)),
    ...checkRunning(running, listeners),
    ...(redis === undefined ? [await checkCache(dataDir)] : [await checkRedis(redis)]),
    ...(hasCatalog ? [await checkCatalog(dataDir)] : []),
    ...(await Promise.all(listeners.map((listener) => checkPort(listener, running)))),
  ];
}

/** Two services on one directory work, but each removes pictures to keep the quota that it knows of alone. */
function checkRunning(running: RunningService | undefined, listeners: readonly ListenerSettings[]): Finding[] {
  if (running === undefined) return [];
  const isSame = listeners.some((listener) => isListenerOf(running, listener));
  if (isSame) return [{ level: 'note', text: `The service runs (process ${running.pid})` }];
  const text = `Another service (process ${running.pid}) uses this DATA_DIR: give each its own`;
  return [{ level: 'warning', text }];
}

function isListenerOf({ ports }: RunningService, { setting, port }: ListenerSettings): boolean {
  return ports[setting] === port;
}

async function checkCache(dataDir: string): Promise<Finding> {
  const { database } = cachePaths(dataDir);
  const problem = findSchemaProblem(database) ?? (await findAccessProblem(withLog(database), 'written'));
  return problem === undefined ? { level: 'ok', text: 'cache.db can be used' } : { level: 'error', text: problem };
}

async function checkCatalog(dataDir: string): Promise<Finding> {
  const { database, images } = catalogPaths(dataDir);
  const problem = await findAccessProblem([...withLog(database), images], 'read');
  if (problem !== undefined) return { level: 'error', text: problem };
  try {
    const channels = countChannels(database);
    const state = channels === undefined ? 'will be made' : `has ${formatCount(channels, 'channel')}`;
    return { level: 'ok', text: `catalog.db ${state}` };
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
    if (!hasErrorCode(error, 'EADDRINUSE')) return { level: 'error', text: `${setting}: ${(error as Error).message}` };
    if (running !== undefined && isListenerOf(running, listener)) {
      return { level: 'note', text: `${setting}: ${port} on ${host} is used by the running service` };
    }
    return { level: 'error', text: `${setting}: ${port} on ${host} is used by another process` };
  }
  server.close();
  await once(server, 'close');
  return { level: 'ok', text: `${setting}: ${port} on ${host} is free` };
}

async function checkRedis(address: RedisAddress): Promise<Finding> {
  let problem: string | null = null;
  const connection = await createRedisConnection({
    address,
    onStateChange(state) {
      problem = state;
    },
  });
  connection.close();
  if (problem === null) return { level: 'ok', text: 'Redis answers' };
  return { level: 'warning', text: `Redis is not used: ${problem}; the service starts, and goes on alone meanwhile` };
}
