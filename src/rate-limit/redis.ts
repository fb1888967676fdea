import { createRedisScript } from '../lib/redis/client.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { SharedRateLimiter } from './fallback.ts';
import type { RateLimit, RateLimitDecision, RateLimiter } from './limiter.ts';

/**
 * The log contains the times of a client's admitted requests inside the window, in microseconds, oldest first. Redis's
 * clock is the only clock that all instances share.
 *
 * If the clock is set back, it stands still for the client until it has caught up. If it is set back by more than the
 * window, the log is emptied, so that the client is not blocked for too long. A log that this script cannot have written is
 * emptied, too: another type, an entry that is no time, or more entries than the limit allows.
 */
const DECIDE = createRedisScript(`
local log, requests, window_us = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]) * 1000
local may_admit = ARGV[3] == '1'
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function is_time(index)
  return string.match(redis.call('LINDEX', log, index), '^%d+$')
end
local length = redis.pcall('LLEN', log)
local is_ours = type(length) == 'number' and length <= requests and (length == 0 or is_time(0) and is_time(-1))
if not is_ours then redis.call('DEL', log) end

local newest = tonumber(redis.call('LINDEX', log, -1))
if newest and newest - now > window_us then
  redis.call('DEL', log)
elseif newest and newest > now then
  now = newest
end

local oldest = tonumber(redis.call('LINDEX', log, 0))
while oldest and now - oldest >= window_us do
  redis.call('LPOP', log)
  oldest = tonumber(redis.call('LINDEX', log, 0))
end

local used = redis.call('LLEN', log)
local is_allowed = may_admit and used < requests
if is_allowed then
  redis.call('RPUSH', log, string.format('%.0f', now))
  redis.call('PEXPIRE', log, ARGV[2])
  used = used + 1
  oldest = oldest or now
end
return { is_allowed and 1 or 0, requests - used, oldest and window_us - (now - oldest) or 0, is_ours and 1 or 0 }
`);

export interface RedisRateLimiter extends RateLimiter, SharedRateLimiter {
  hit(client: string, limit: RateLimit, mayAdmit?: boolean): Promise<RateLimitDecision>;
}

export interface RedisRateLimiterOptions {
  readonly connection: Pick<RedisConnection, 'run'>;
  /** Called when a key contained something else than a log. */
  readonly onRefused?: () => void;
}

/**
 * Decides together with all instances on the same Redis: one script and one round trip for each decision. Exact for any
 * number of concurrent decisions. A log expires with its newest request.
 *
 * `hit` rejects with `RedisUnavailable` if Redis does not respond in time.
 */
export function createRedisRateLimiter({ connection, onRefused }: RedisRateLimiterOptions): RedisRateLimiter {
  return {
    async hit(client, { requests, windowMs }, mayAdmit = true) {
      const key = `pennant:limit1:${requests}/${windowMs}:${client}`;
      const args = [String(requests), String(windowMs), mayAdmit ? '1' : '0'];
      const reply = await connection.run((redis) => DECIDE(redis, [key], args));
      const [isAllowed, remaining, resetUs, isOurs] = reply as [number, number, number, number];
      if (isOurs === 0) onRefused?.();
      return { isAllowed: isAllowed === 1, remaining, resetMs: resetUs / 1000 };
    },
    async close() {},
  };
}
