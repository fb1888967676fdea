import { createRedisScript } from '../lib/redis/client.ts';

/*
 * The scripts of the store in Redis. The first key is that of the epoch, `{series}:{number}`. An index is a sorted set of
 * keys by the time when they expire.
 */

const HEAD = `
local function ofType(key, type)
  local found = redis.call('TYPE', key).ok
  if found ~= type and found ~= 'none' then redis.call('DEL', key) end
end

local function readEpoch(first)
  ofType(KEYS[1], 'string')
  local epoch = redis.call('GET', KEYS[1])
  if epoch and string.match(epoch, '^%x+:%d+$') then return epoch end
  redis.call('SET', KEYS[1], first)
  return first
end
`;

/** Returns the epoch. Argument: the first epoch of a new series, for a Redis that has none. */
export const READ_EPOCH = createRedisScript(`${HEAD}
return readEpoch(ARGV[1])
`);

/**
 * Stores a value, unless its epoch has ended.
 *
 * Keys: the epoch's, the value's and, for a value that an erasure must find, its index. Arguments: the value, its time to live
 * in milliseconds, and the epoch in which the work began.
 */
export const SET = createRedisScript(`${HEAD}
local key, index = KEYS[2], KEYS[3]
local ttl = tonumber(ARGV[2])
ofType(KEYS[1], 'string')
if redis.call('GET', KEYS[1]) ~= ARGV[3] then return 0 end
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
 * Erases values, and raises the number of the epoch.
 *
 * Keys: the epoch's, the values' keys, then indexes of more values. Arguments: the first epoch of a new series, the number of
 * the values' keys, and '1' to raise the number although there was no value. Returns the epoch and the
 * erased keys.
 */
export const ERASE = createRedisScript(`${HEAD}
local epoch, values = readEpoch(ARGV[1]), tonumber(ARGV[2])
local erased = {}
local function erase(key)
  if redis.call('DEL', key) == 1 then table.insert(erased, key) end
end
for at = 2, 1 + values do erase(KEYS[at]) end
for at = 2 + values, #KEYS do
  ofType(KEYS[at], 'zset')
  for _, key in ipairs(redis.call('ZRANGE', KEYS[at], 0, -1)) do erase(key) end
  redis.call('DEL', KEYS[at])
end
if ARGV[3] == '1' or #erased > 0 then
  local series, number = string.match(epoch, '^(%x+):(%d+)$')
  epoch = string.format('%s:%d', series, number + 1)
  redis.call('SET', KEYS[1], epoch)
end
return { epoch, erased }
`);

/** Erases some of the keys in an index, the only key. Returns how many it took from the index, and how many of them existed. */
export const SWEEP = createRedisScript(`${HEAD}
ofType(KEYS[1], 'zset')
local taken = redis.call('ZPOPMIN', KEYS[1], ARGV[1])
local erased = 0
for at = 1, #taken, 2 do erased = erased + redis.call('UNLINK', taken[at]) end
return { #taken / 2, erased }
`);

/** If the epoch is the first argument, begins a new series: the second argument. Returns the epoch. */
export const BEGIN_SERIES = createRedisScript(`${HEAD}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return readEpoch(ARGV[2]) end
redis.call('SET', KEYS[1], ARGV[2])
return ARGV[2]
`);
