import type { RedisConnection } from '../lib/redis/connection.ts';
import { channelIdsIn, checksumOf, DATA_VERSION } from './keys.ts';
import type { Store, StoredEntry } from './store.ts';

const KEY_PREFIX = 'pennant:';
/** Longer than any entry lives that names a channel. */
const INDEX_TTL_MS = 8 * 86_400_000;
const KEYS_PER_STEP = 200;

interface RedisStoreOptions {
  /** The caller closes it. */
  readonly connection: RedisConnection;
  /** Called with the key of a value whose checksum is missing or wrong: others may use the same Redis. */
  readonly onRefused: (key: string) => void;
}

/**
 * The store in Redis or Valkey, which expires the entries. For each channel there is a sorted set of the keys that name it,
 * or whose values do, by the time when they expire. A Redis that evicts a set keeps those entries until they expire.
 */
export function createRedisStore({ connection, onRefused }: RedisStoreOptions): Store {
  const writes = new Set<Promise<unknown>>();

  /** Sends the commands together. The value comes last, so that none is without its place in the sets. */
  function write(key: string, { value, storedAtMs }: StoredEntry, ttlMs: number): Promise<unknown> {
    const redisKey = KEY_PREFIX + key;
    const text = `${storedAtMs} ${value}`;
    const nowMs = Date.now();
    return connection.run((redis) =>
      Promise.all([
        ...channelIdsIn(`${key} ${value}`).flatMap((channelId) => {
          const index = indexOf(channelId);
          return [
            redis.zRemRangeByScore(index, '-inf', nowMs),
            redis.zAdd(index, { score: nowMs + ttlMs, value: redisKey }),
            redis.pExpire(index, INDEX_TTL_MS),
          ];
        }),
        redis.set(redisKey, `${checksumOf(key, text)} ${text}`, { expiration: { type: 'PX', value: ttlMs } }),
      ]),
    );
  }

  async function removeNaming(channelId: string): Promise<number> {
    const index = indexOf(channelId);
    for (let removed = 0; ; ) {
      const keys = await connection.run((redis) => redis.zRange(index, 0, KEYS_PER_STEP - 1));
      if (keys.length === 0) return removed;
      removed += await connection.run((redis) => redis.unlink(keys));
      await connection.run((redis) => redis.zRem(index, keys));
    }
  }

  return {
    name: 'Redis',
    isShared: true,

    async get(key) {
      const text = await connection.run((redis) => redis.get(KEY_PREFIX + key));
      if (text === null) return undefined;
      const found = parse(key, text);
      if (found === undefined) onRefused(key);
      return found;
    },

    async set(key, entry, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      if (wholeMs < 1) return;
      // The connection reports its failures.
      const writing = write(key, entry, wholeMs).catch(() => undefined);
      writes.add(writing);
      await writing;
      writes.delete(writing);
    },

    async remove({ channelIds, keys }) {
      let removed = 0;
      if (keys.length > 0)
        removed += await connection.run((redis) => redis.unlink(keys.map((key) => KEY_PREFIX + key)));
      for (const channelId of channelIds) removed += await removeNaming(channelId);
      return removed;
    },

    async close() {
      await Promise.all(writes);
    },
  };
}

function indexOf(channelId: string): string {
  return `${KEY_PREFIX}named${DATA_VERSION}:${channelId}`;
}

/** A checksum of the key and the rest, the time when the entry was stored, and the value. `undefined` for any other text. */
function parse(key: string, stored: string): StoredEntry | undefined {
  const [head = '', checksum, storedAtMs = ''] = /^(\d{1,10}) ([\d.]{1,30}) /.exec(stored) ?? [];
  const value = stored.slice(head.length);
  return Number(checksum) === checksumOf(key, `${storedAtMs} ${value}`)
    ? { value, storedAtMs: Number(storedAtMs) }
    : undefined;
}
