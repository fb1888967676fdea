import type { Config } from '../config/settings.ts';
import { createRedisConnection, RedisUnavailable } from '../lib/redis/connection.ts';
import { cachePaths } from '../store/cache-paths.ts';
import { createChanges } from '../store/changes.ts';
import { type KeptName, keptKey } from '../store/keys.ts';
import { createRedisStore } from '../store/redis.ts';
import { START } from '../store/shared-changes.ts';
import { CacheUnreadableError, lookInto } from '../store/sqlite-schema.ts';

/** What the running service has kept under the name, for a command that changes nothing; `undefined` where it cannot be read. */
export async function readKeptText(config: Config, name: KeptName): Promise<string | undefined> {
  const { dataDir, redisUrl } = config;
  if (redisUrl === undefined) return readFromFile(cachePaths(dataDir).database, keptKey(name));
  const connection = await createRedisConnection({ address: redisUrl, onStateChange: () => undefined });
  try {
    const store = createRedisStore({ connection, changes: createChanges(), sharedChanges: { position: () => START } });
    return (await store.get(keptKey(name)))?.value;
  } catch (error) {
    if (error instanceof RedisUnavailable) return undefined;
    throw error;
  } finally {
    connection.close();
  }
}

function readFromFile(path: string, key: string): string | undefined {
  try {
    const row = lookInto(path, (db) => db.prepare('SELECT value FROM entries WHERE key = ?').get(key));
    return row === undefined ? undefined : String(row.value);
  } catch (error) {
    if (error instanceof CacheUnreadableError) return undefined;
    throw error;
  }
}
