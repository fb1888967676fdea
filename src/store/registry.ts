import type { Config } from '../config/settings.ts';
import { createRedisBackend } from './redis.ts';
import { createSqliteBackend } from './sqlite.ts';
import type { StoreBackend } from './store.ts';

/** Returns the configured store. It is not opened yet. */
export function chooseStore({ redisUrl, dataDir }: Config): StoreBackend {
  return redisUrl === undefined ? createSqliteBackend(dataDir) : createRedisBackend(redisUrl);
}
