import { createRedisScript } from '../lib/redis/client.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { SharedRateLimiter } from './limiter.ts';

/**
 * The log contains the times of a client's admitted requests inside the window, in microseconds, oldest first. Redis's
 * clock is the only clock that all instances share.
 *
 * If the clock is set back, the script uses the newest time in the log until the clock has caught up. If it is set back by
 * more than the window, the log is emptied, so that the client is not refused for too long. A log that this script cannot
 * have written is emptied, too: another type, an entry that is not a time, times that are not in order, or more entries than the
 * limit allows.
 */
const DECIDE = createRedisScript(`
local log, requests, window_ms = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local window_us = window_ms * 1000
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function time_at(index)
  local entry = redis.call('LINDEX', log, index)
  return entry and tonumber(string.match(entry, '^%d+$'))
end

local used = redis.pcall('LLEN', log)
local is_ours = type(used) == 'number' and used <= requests
local oldest, newest
if is_ours and used > 0 then
  oldest, newest = time_at(0), time_at(-1)
  is_ours = oldest and newest
end
if not is_ours or newest and newest - now > window_us then
  redis.call('DEL', log)
  used, oldest = 0, nil
elseif newest and newest > now then
  now = newest
end

while oldest and now - oldest >= window_us do
  redis.call('LPOP', log)
  used, oldest = used - 1, time_at(0)
end
if used > 0 and not (oldest and oldest <= now) then
  redis.call('DEL', log)
  used, oldest = 0, nil
end

local is_allowed = ARGV[3] == '1' and used < requests
if is_allowed then
  redis.call('RPUSH', log, string.format('%.0f', now))
  redis.call('PEXPIRE', log, window_ms)
  used = used + 1
  oldest = oldest or now
end
return { is_allowed and 1 or 0, requests - used, oldest and window_us - (now - oldest) or 0 }
`);

/** Instances that decide alone admit more than the limit, so a decision may take longer than a stored value. */
const DECISION_TIMEOUT_MS = 250;

/**
 * Decides together with all instances on the same Redis. Exact for any number of concurrent decisions. A log expires with its
 * newest request.
 *
 * `hit` rejects with `RedisUnavailable` if Redis does not respond in time.
 */
export function createRedisRateLimiter({
  connection,
}: {
  readonly connection: Pick<RedisConnection, 'run'>;
}): SharedRateLimiter {
  return {
    async hit(client, { requests, windowMs }, mayAdmit = true) {
      const key = `pennant:limit1:${requests}/${windowMs}:${client}`;
      const parameters = [String(requests), String(windowMs), mayAdmit ? '1' : '0'];
      const decision = await connection.run((redis) => DECIDE(redis, [key], parameters), DECISION_TIMEOUT_MS);
      const [isAllowed, remaining, resetUs] = decision as [number, number, number];
      return { isAllowed: isAllowed === 1, remaining, resetMs: resetUs / 1000 };
    },
  };
}
