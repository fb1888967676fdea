import { type RedisConnection, RedisWrongType } from '../lib/redis/connection.ts';
import { keysLike } from '../lib/redis/keys-like.ts';
import { createRedisScript } from '../lib/redis/script.ts';
import { findEntryKind } from './keys.ts';
import type { ErasableStore, StoredEntry } from './store.ts';

export const REDIS_KEY_PREFIX = 'pennant:';
/** The server does nothing else meanwhile; searches are the longest values, some tens of kilobytes each. */
const KEYS_PER_ERASING_STEP = 50;

/** Removes those of the keys that name one of the channels, themselves or in their value (as `mentionsChannel`). */
const ERASE = createRedisScript(`
local is_meant = {}
for _, id in ipairs(ARGV) do is_meant[id] = true end
local id_form = 'UC' .. string.rep('[%w_-]', 22)
local erased = {}
for _, key in ipairs(KEYS) do
  local value = redis.pcall('GET', key)
  local text = key .. ' ' .. (type(value) == 'string' and value or '')
  for id in string.gmatch(text, id_form) do
    if is_meant[id] then
      redis.call('UNLINK', key)
      erased[#erased + 1] = key
      break
    end
  end
end
return erased
`);

export interface RedisStoreOptions {
  /** The caller's; it stays open. */
  readonly connection: RedisConnection;
  /** Called for a value that this store did not write. */
  readonly onRefused?: (key: string) => void;
}

/**
 * A store that instances share, in Redis or Valkey; entries expire there by themselves. Calls reject with
 * `RedisUnavailable`.
 */
export function createRedisStore({ connection, onRefused }: RedisStoreOptions): ErasableStore {
  async function remove(key: string): Promise<void> {
    await connection.run((redis) => redis.del(REDIS_KEY_PREFIX + key));
  }

  /** `null` where there is nothing, `undefined` where there is no text but another type. */
  async function textUnder(key: string): Promise<string | null | undefined> {
    try {
      return await connection.run((redis) => redis.get(REDIS_KEY_PREFIX + key));
    } catch (error) {
      if (error instanceof RedisWrongType) return undefined;
      throw error;
    }
  }

  /** Those of the store alone: the rate limit's logs and the pictures are others' keys. */
  async function* entryKeys(): AsyncGenerator<string[]> {
    for await (const keys of keysLike(connection, `${REDIS_KEY_PREFIX}*:*`)) {
      const own = keys.filter((key) => findEntryKind(key.slice(REDIS_KEY_PREFIX.length)) !== undefined);
      for (let at = 0; at < own.length; at += KEYS_PER_ERASING_STEP) yield own.slice(at, at + KEYS_PER_ERASING_STEP);
    }
  }

  return {
    isShared: true,
    async get(key) {
      const text = await textUnder(key);
      if (text === null) return undefined;
      const entry = text === undefined ? undefined : parse(text);
      if (entry === undefined) onRefused?.(key);
      return entry;
    },
    async set(key, entry, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      if (wholeMs < 1) return remove(key);
      await connection.run((redis) => redis.set(REDIS_KEY_PREFIX + key, format(entry), { PX: wholeMs }));
    },
    delete: remove,
    async eraseChannels(channelIds) {
      const erased: string[] = [];
      for await (const keys of entryKeys()) {
        erased.push(...((await connection.run((redis) => ERASE(redis, keys, [...channelIds]))) as string[]));
      }
      return erased.map((key) => key.slice(REDIS_KEY_PREFIX.length));
    },
    async eraseAll() {
      for await (const keys of entryKeys()) await connection.run((redis) => redis.unlink(keys));
    },
    async close() {},
  };
}

function format({ value, storedAtMs }: StoredEntry): string {
  return `${storedAtMs} ${value}`;
}

const TEXT_FORM = /^(\d{1,16}(?:\.\d{1,16})?) /;

/** `undefined` for what this store did not write: others may use the same Redis. */
function parse(text: string): StoredEntry | undefined {
  const [head, storedAtMs] = TEXT_FORM.exec(text) ?? [];
  return head === undefined ? undefined : { value: text.slice(head.length), storedAtMs: Number(storedAtMs) };
}
