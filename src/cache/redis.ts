import type { RedisClient } from '../lib/redis/client.ts';
import { type RedisConnection, RedisWrongType } from '../lib/redis/connection.ts';
import { keysLike } from '../lib/redis/keys-like.ts';
import { createRedisScript } from '../lib/redis/script.ts';
import { type Change, concernsEntry, mayConcernValue } from './change.ts';
import type { Changes } from './changes.ts';
import { findEntryKind } from './keys.ts';
import { channelIdsIn } from './mentions.ts';
import { CHANGES_KEY, isLater, type SharedChanges, START } from './shared-changes.ts';
import type { ErasableStore, StoredEntry } from './store.ts';

export const REDIS_KEY_PREFIX = 'pennant:';
/** The server does nothing else meanwhile; searches are the longest values, some tens of kilobytes each. */
const KEYS_PER_ERASING_STEP = 50;

/**
 * Removes those of the keys that name one of the channels, themselves or in their value (as `concernsEntry`); with '1'
 * also searches whose value names none at all.
 */
const ERASE = createRedisScript(`
local takes_empty = ARGV[1] == '1'
local is_meant = {}
for at = 2, #ARGV do is_meant[ARGV[at]] = true end
local id_form = 'UC' .. string.rep('[%w_-]', 22)

local function names_one(text)
  for id in string.gmatch(text, id_form) do
    if is_meant[id] then return true end
  end
  return false
end

local function is_search(key)
  return string.find(key, '^[^:]*:search%d+:')
end

local erased = {}
for _, key in ipairs(KEYS) do
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' then value = '' end
  if names_one(key) or names_one(value) or takes_empty and is_search(key) and not string.find(value, id_form) then
    redis.call('UNLINK', key)
    erased[#erased + 1] = key
  end
end
return erased
`);

/** Keeps a value unless there is a change of which the writer does not know yet. */
const SET = createRedisScript(`
local latest = redis.pcall('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
if latest[1] and latest[1][1] ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** Stores a value under the key, without the prefix, that tells others what its writer knew. */
export async function storeInRedis(
  client: RedisClient,
  key: string,
  { value, ttlMs, position }: { readonly value: string | Buffer; readonly ttlMs: number; readonly position: string },
): Promise<void> {
  await SET(client, [REDIS_KEY_PREFIX + key, CHANGES_KEY], [value, String(ttlMs), position]);
}

export interface RedisStoreOptions {
  /** The caller's; it stays open. */
  readonly connection: RedisConnection;
  readonly changes: Changes;
  readonly sharedChanges: Pick<SharedChanges, 'position'>;
  /** Called for a value that this store did not write. */
  readonly onRefused?: (key: string) => void;
}

/**
 * A store that instances share, in Redis or Valkey; entries expire there by themselves. Calls reject with
 * `RedisUnavailable`.
 *
 * An entry says which changes its writer knew. One that a later change concerns counts as absent, until it is erased.
 */
export function createRedisStore(options: RedisStoreOptions): ErasableStore {
  const { connection, changes, sharedChanges, onRefused } = options;

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

  /** What goes by its key alone is removed at once; values are looked at where they are. */
  async function eraseAmong(keys: readonly string[], change: Change): Promise<string[]> {
    const { going = [], rest = [] } = Object.groupBy(keys, (key) =>
      concernsEntry(change, key.slice(REDIS_KEY_PREFIX.length), ANY_VALUE) ? 'going' : 'rest',
    );
    if (going.length > 0) await connection.run((redis) => redis.unlink(going));
    const { channelIds, searches } = change;
    const values = rest.filter((key) => mayConcernValue(change, key.slice(REDIS_KEY_PREFIX.length)));
    if (values.length === 0 || channelIds === 'all') return going;
    const args = [searches === 'empty' ? '1' : '0', ...channelIds];
    return [...going, ...((await connection.run((redis) => ERASE(redis, values, args))) as string[])];
  }

  return {
    isShared: true,
    async get(key) {
      const text = await textUnder(key);
      if (text === null) return undefined;
      const found = text === undefined ? undefined : parse(text);
      if (found === undefined) {
        onRefused?.(key);
        return undefined;
      }
      const { position, ...entry } = found;
      const isTakenAway = (change: Change) => concernsEntry(change, key, channelIdsIn(entry.value));
      return changes.hasBeyond((id) => isLater(id, position), isTakenAway) ? undefined : entry;
    },
    async set(key, entry, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      if (wholeMs < 1) return remove(key);
      const position = sharedChanges.position();
      const value = format(entry, position);
      await connection.run((redis) => storeInRedis(redis, key, { value, ttlMs: wholeMs, position }));
    },
    delete: remove,
    async erase(change) {
      const erased: string[] = [];
      for await (const keys of entryKeys()) erased.push(...(await eraseAmong(keys, change)));
      return erased.map((key) => key.slice(REDIS_KEY_PREFIX.length));
    },
    async close() {},
  };
}

/** Of a value that names some channel, whichever. */
const ANY_VALUE: readonly string[] = [''];

function format({ value, storedAtMs }: StoredEntry, position: string): string {
  return `${storedAtMs}@${position} ${value}`;
}

/** Without a position: an entry of an earlier version. */
const TEXT_FORM = /^(\d{1,16}(?:\.\d{1,16})?)(?:@(\d{1,16}-\d{1,16}))? /;

/** `undefined` for what this store did not write: others may use the same Redis. */
function parse(text: string): (StoredEntry & { readonly position: string }) | undefined {
  const [head, storedAtMs, position = START] = TEXT_FORM.exec(text) ?? [];
  if (head === undefined) return undefined;
  return { value: text.slice(head.length), storedAtMs: Number(storedAtMs), position };
}
