import { createRedisScript } from '../lib/redis/client.ts';

/*
 * The scripts of the store in Redis. `removals` is a stream with one entry for each erasure; the ID of its last entry is the
 * position. An index is a sorted set of keys by the time when they expire.
 */

const HEAD = `
local function ofType(key, type)
  local found = redis.call('TYPE', key).ok
  if found ~= type and found ~= 'none' then redis.call('DEL', key) end
end

local function lastOf(stream)
  local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
  return last and last[1]
end
`;

/**
 * Stores a value, unless there is an erasure that the writer does not know: its value may be older.
 *
 * Keys: the value's, `removals` and, for a value that an erasure must find, its index. Arguments: the value, its time to
 * live in milliseconds, and the writer's position.
 */
export const SET = createRedisScript(`${HEAD}
local key, removals, index = KEYS[1], KEYS[2], KEYS[3]
local ttl = tonumber(ARGV[2])
ofType(removals, 'stream')
if lastOf(removals) ~= ARGV[3] then return 0 end
if index then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  ofType(index, 'zset')
  redis.call('ZREMRANGEBYSCORE', index, '-inf', now)
  redis.call('ZADD', index, now + ttl, key)
  if redis.call('PTTL', index) < ttl then redis.call('PEXPIRE', index, ARGV[2]) end
end
redis.call('SET', key, ARGV[1], 'PX', ARGV[2])
return 1
`);

/**
 * Erases values, and tells all instances.
 *
 * Keys: `removals`, the index of all searches, the values' keys, then indexes of more values. Arguments: the length of
 * `removals`, the message to other instances, and the number of values' keys. Returns the position before, the new one,
 * and the erased keys. Searches are counted, and erased afterwards, by `SWEEP`: their keys include the position.
 */
export const ERASE = createRedisScript(`${HEAD}
local removals, searches, values = KEYS[1], KEYS[2], tonumber(ARGV[3])
ofType(removals, 'stream')
local before = lastOf(removals)
local id = redis.call('XADD', removals, 'MAXLEN', '~', ARGV[1], '*', 'removal', ARGV[2])
local erased = {}
local function erase(key)
  if redis.call('DEL', key) == 1 then table.insert(erased, key) end
end
for at = 3, 2 + values do erase(KEYS[at]) end
for at = 3 + values, #KEYS do
  ofType(KEYS[at], 'zset')
  for _, key in ipairs(redis.call('ZRANGE', KEYS[at], 0, -1)) do erase(key) end
  redis.call('DEL', KEYS[at])
end
ofType(searches, 'zset')
if redis.call('EXISTS', searches) == 1 then redis.call('RENAME', searches, searches .. ':' .. id) end
return { before or '', id, erased }
`);

/** Erases some of the keys in an index. Returns how many it took from the index, and how many of them existed. */
export const SWEEP = createRedisScript(`
local taken = redis.call('ZPOPMIN', KEYS[1], ARGV[1])
local erased = 0
for at = 1, #taken, 2 do erased = erased + redis.call('UNLINK', taken[at]) end
return { #taken / 2, erased }
`);

/**
 * Returns the erasures after a position, '' for none, with their positions, and how they relate to it: 'known'; 'behind', if
 * some may be missing in between; 'lost', if Redis had later data before. An empty stream gets a first entry, so that an
 * instance notices later that the stream was lost.
 */
export const RECEIVE = createRedisScript(`${HEAD}
local removals, position = KEYS[1], ARGV[1]
ofType(removals, 'stream')
if not lastOf(removals) then redis.call('XADD', removals, '*', 'removal', ARGV[3]) end
if position == '' then return { 'behind', lastOf(removals), {} } end
local upTo = redis.call('XREVRANGE', removals, position, '-', 'COUNT', 1)[1]
if not upTo then return { 'behind', lastOf(removals), {} } end
if upTo[1] ~= position then return { 'lost', lastOf(removals), {} } end
return { 'known', lastOf(removals), redis.call('XRANGE', removals, '(' .. position, '+', 'COUNT', ARGV[2]) }
`);

export type ReceiveReply = [
  relation: 'known' | 'behind' | 'lost',
  last: string,
  after: [id: string, fields: string[]][],
];
