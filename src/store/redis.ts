import { createRedisScript, type RedisClient } from '../lib/redis/client.ts';
import { keysLike, type RedisConnection, RedisWrongType } from '../lib/redis/connection.ts';
import { type Change, type Changes, concernsEntry, mayConcernValue } from './changes.ts';
import { channelIdsIn, findEntryKind } from './keys.ts';
import { CHANGES_KEY, isLater, type SharedChanges, START } from './shared-changes.ts';
import type { ErasableStore, StoredEntry } from './store.ts';

export const REDIS_KEY_PREFIX = 'pennant:';
/** The server does nothing else meanwhile; searches are the longest values, some tens of kilobytes each. */
const KEYS_PER_ERASING_STEP = 50;

/**
 * Removes those of the keys that name one of the channels, themselves or in their value (as `concernsEntry`); with
 * 'empty' also searches whose value names none at all, with 'all' every key. Values stay whose writer knew the change.
 */
const ERASE = createRedisScript(`
local which, ms, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local is_meant = {}
for at = 4, #ARGV do is_meant[ARGV[at]] = true end
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

local function is_newer(value)
  local value_ms, value_count = string.match(value, '^[%d.]+@(%d+)-(%d+) ')
  if not value_ms then return false end
  value_ms, value_count = tonumber(value_ms), tonumber(value_count)
  return value_ms > ms or value_ms == ms and value_count >= count
end

local erased = {}
for _, key in ipairs(KEYS) do
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' then value = '' end
  local goes = which == 'all' or names_one(key) or names_one(value) or which == 'empty' and is_search(key) and not string.find(value, id_form)
  if goes and not is_newer(value) then
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

  async function eraseAmong(keys: readonly string[], change: Change, position: string): Promise<string[]> {
    const { going = [], rest = [] } = Object.groupBy(keys, (key) =>
      concernsEntry(change, key.slice(REDIS_KEY_PREFIX.length), ANY_VALUE) ? 'going' : 'rest',
    );
    const asked = rest.filter((key) => mayConcernValue(change, key.slice(REDIS_KEY_PREFIX.length)));
    const ids = change.channelIds === 'all' ? [] : [...change.channelIds];
    const place = position.split('-');
    const erased = await Promise.all([
      eraseWith(going, ['all', ...place]),
      eraseWith(asked, [change.searches === 'empty' ? 'empty' : 'naming', ...place, ...ids]),
    ]);
    return erased.flat();
  }

  async function eraseWith(keys: readonly string[], args: string[]): Promise<string[]> {
    if (keys.length === 0) return [];
    return (await connection.run((redis) => ERASE(redis, [...keys], args))) as string[];
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
    async erase(change, position = LATEST) {
      const erased: string[] = [];
      for await (const keys of entryKeys()) erased.push(...(await eraseAmong(keys, change, position)));
      return erased.map((key) => key.slice(REDIS_KEY_PREFIX.length));
    },
    async close() {},
  };
}

/** Behind every position: everything that the change concerns goes. */
const LATEST = '9999999999999999-0';
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
