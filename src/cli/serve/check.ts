import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rmdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { cachePaths } from '../../cache/cache-paths.ts';
import { findSchemaProblem } from '../../cache/cache-schema.ts';
import type { RedisAddress } from '../../domain/redis-url.ts';
import { hasErrorCode } from '../../lib/error-code.ts';
import { createRedisConnection } from '../../lib/redis/connection.ts';
import { countChannels } from '../../sources/catalog/look-into.ts';
import { CatalogUnusableError, catalogPaths } from '../../sources/catalog/schema.ts';
import { formatCount } from '../format.ts';

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
  /** `error`: the service would not start, or could not do its work. */
  readonly level: 'ok' | 'warning' | 'error';
  readonly text: string;
}

/** Looks at everything that a start needs besides sound settings. Starts nothing and leaves nothing behind. */
export async function checkStart(settings: CheckSettings): Promise<Finding[]> {
  const { envFile, dataDir, hasCatalog, listeners, redis, warnings } = settings;
  return [
    { level: 'ok', text: `.env: ${envFile}` },
    ...warnings.map((text): Finding => ({ level: 'warning', text })),
    await checkDataDir(resolve(dataDir)),
    ...(redis === undefined ? [checkCache(dataDir)] : [await checkRedis(redis)]),
    ...(hasCatalog ? [checkCatalog(dataDir)] : []),
    ...(await Promise.all(listeners.map(checkPort))),
  ];
}

/** Writes where it will: rights, a read-only disk and a full one all show. */
async function checkDataDir(dataDir: string): Promise<Finding> {
  const existing = nearestExisting(dataDir);
  try {
    await rmdir(await mkdtemp(join(existing, 'pennant-check-')));
  } catch (error) {
    return { level: 'error', text: `DATA_DIR ${dataDir} cannot be written: ${(error as Error).message}` };
  }
  return { level: 'ok', text: `DATA_DIR ${dataDir} ${existing === dataDir ? 'can be written' : 'will be made'}` };
}

function nearestExisting(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined || dirname(path) === path) return path;
  return nearestExisting(dirname(path));
}

function checkCache(dataDir: string): Finding {
  const problem = findSchemaProblem(cachePaths(dataDir).database);
  return problem === undefined ? { level: 'ok', text: 'cache.db can be used' } : { level: 'error', text: problem };
}

function checkCatalog(dataDir: string): Finding {
  try {
    const channels = countChannels(catalogPaths(dataDir).database);
    const state = channels === undefined ? 'will be made' : `has ${formatCount(channels, 'channel')}`;
    return { level: 'ok', text: `catalog.db ${state}` };
  } catch (error) {
    if (!(error instanceof CatalogUnusableError)) throw error;
    return { level: 'error', text: error.message };
  }
}

async function checkPort({ setting, host, port }: ListenerSettings): Promise<Finding> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
  } catch (error) {
    const text = `${setting}: ${(error as Error).message}`;
    if (!hasErrorCode(error, 'EADDRINUSE')) return { level: 'error', text };
    return { level: 'warning', text: `${text} (no mistake if that is this service)` };
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
