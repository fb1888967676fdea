import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Store, StoredEntry } from './store.ts';

const KEY_PREFIX = 'pennant:';

/**
 * A store that instances share, in Redis or Valkey; entries expire there by themselves. The connection is the caller's
 * and stays open. Calls reject with `RedisUnavailable`.
 */
export function createRedisStore({ connection }: { connection: RedisConnection }): Store {
  async function remove(key: string): Promise<void> {
    await connection.run((redis) => redis.del(KEY_PREFIX + key));
  }

  return {
    async get(key) {
      const text = await connection.run((redis) => redis.get(KEY_PREFIX + key));
      return text === null ? undefined : parse(text);
    },
    async set(key, entry, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      if (wholeMs < 1) return remove(key);
      await connection.run((redis) => redis.set(KEY_PREFIX + key, format(entry), { PX: wholeMs }));
    },
    delete: remove,
    async close() {},
  };
}

function format({ value, storedAtMs }: StoredEntry): string {
  return `${storedAtMs} ${value}`;
}

/** `undefined` for what is not of our making: others may use the same Redis. */
function parse(text: string): StoredEntry | undefined {
  const end = text.indexOf(' ');
  const storedAtMs = end < 1 ? Number.NaN : Number(text.slice(0, end));
  return Number.isFinite(storedAtMs) ? { value: text.slice(end + 1), storedAtMs } : undefined;
}
