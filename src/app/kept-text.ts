import { cachePaths } from '../cache/cache-paths.ts';
import { CacheUnreadableError, lookInto } from '../cache/cache-schema.ts';
import { createChanges } from '../cache/changes.ts';
import { type KeptName, keptKey } from '../cache/keys.ts';
import { createRedisStore } from '../cache/redis.ts';
import { START } from '../cache/shared-changes.ts';
import type { Config } from '../config/settings.ts';
import { createRedisConnection, RedisUnavailable } from '../lib/redis/connection.ts';

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
