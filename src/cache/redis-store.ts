import { createRedisScript } from '../lib/redis/client.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Store } from './store.ts';

const KEY_PREFIX = 'pennant:';
/** How many keys Redis looks at for one command of a removal, which takes it a few milliseconds. */
const KEYS_PER_STEP = 250;
/** A removal waits longer for a command than a request of a client. */
const REMOVAL_COMMAND_MS = 250;

/** Removes those of the keys that name one of the channels: the rule is in `removal.ts`. Returns their number. */
const REMOVE = createRedisScript(`
local wanted = {}
for _, id in ipairs(ARGV) do wanted[id] = true end
local id_pattern = 'UC' .. string.rep('[%w_-]', 22)
local string_pattern = '"(' .. id_pattern .. ')"'

local function has_wanted(text, pattern)
  for id in string.gmatch(text, pattern) do
    if wanted[id] then return true end
  end
  return false
end

local removed = 0
for _, key in ipairs(KEYS) do
  local value = redis.pcall('GET', key)
  if has_wanted(key, id_pattern) or type(value) == 'string' and has_wanted(value, string_pattern) then
    removed = removed + redis.call('UNLINK', key)
  end
end
return removed
`);

/** The store in Redis or Valkey, which expires the entries. The caller closes the connection. */
export function createRedisStore(connection: RedisConnection): Store {
  async function removeNaming(channelIds: readonly string[]): Promise<number> {
    let removed = 0;
    let next = '0';
    do {
      // The type excludes the logs of the rate limit.
      const options = { MATCH: `${KEY_PREFIX}*`, TYPE: 'string', COUNT: KEYS_PER_STEP } as const;
      const { cursor, keys } = await connection.run((redis) => redis.scan(next, options), REMOVAL_COMMAND_MS);
      if (keys.length > 0) {
        removed += Number(await connection.run((redis) => REMOVE(redis, keys, [...channelIds]), REMOVAL_COMMAND_MS));
      }
      next = cursor;
    } while (next !== '0');
    return removed;
  }

  return {
    name: 'Redis',
    isShared: true,

    async get(key) {
      return (await connection.run((redis) => redis.get(KEY_PREFIX + key))) ?? undefined;
    },

    async set(key, text, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      if (wholeMs < 1) return;
      const options = { expiration: { type: 'PX', value: wholeMs } } as const;
      // The connection reports its failures.
      await connection.run((redis) => redis.set(KEY_PREFIX + key, text, options)).catch(() => undefined);
    },

    async remove({ channelIds, keys }) {
      const own = keys.map((key) => KEY_PREFIX + key);
      const unlinked = keys.length > 0 ? await connection.run((redis) => redis.unlink(own), REMOVAL_COMMAND_MS) : 0;
      return unlinked + (channelIds.length > 0 ? await removeNaming(channelIds) : 0);
    },
  };
}
