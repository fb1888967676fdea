import type { Config } from '../config/settings.ts';
import { createRedisDriver } from './redis.ts';
import { createSqliteDriver } from './sqlite.ts';
import type { StoreDriver } from './store.ts';

/** The driver of the configured store. */
export function chooseStoreDriver({ redisUrl, dataDir }: Config): StoreDriver {
  return redisUrl === undefined ? createSqliteDriver(dataDir) : createRedisDriver(redisUrl);
}
