import type { Config } from '../config/settings.ts';
import { createRedisBackend } from './redis.ts';
import { createSqliteBackend } from './sqlite.ts';
import type { StoreBackend } from './store.ts';

/** In order of precedence: the first backend that is configured is used. */
const BACKENDS: readonly ((config: Config) => StoreBackend | undefined)[] = [
  ({ redisUrl }) => redisUrl && createRedisBackend(redisUrl),
  ({ dataDir }) => createSqliteBackend(dataDir),
];

/** Returns the configured store. It is not opened yet. */
export function chooseStore(config: Config): StoreBackend {
  for (const choose of BACKENDS) {
    const backend = choose(config);
    if (backend !== undefined) return backend;
  }
  throw new Error('No store is configured.');
}
