import type { BoundedStats } from '../lib/metrics.ts';
import { createRedisScript } from '../lib/redis/client.ts';
import { type RedisConnection, RedisUnavailable } from '../lib/redis/connection.ts';
import type { SharedRateLimiter } from './fallback.ts';
import type { RateLimit, RateLimitDecision } from './limiter.ts';

/**
 * The log contains the times of a client's admitted requests inside the window, in microseconds, oldest first. Redis's
 * clock is the only clock that all instances share.
 *
 * If the clock is set back, the script uses the newest time in the log until the clock has caught up. If it is set back by
 * more than the window, the log is emptied, so that the client is not refused for too long. A log that this script cannot
 * have written is emptied, too: another type, an entry that is not a time, or more entries than the limit allows.
 *
 * Each key names its limit. The argument has a character for each key: 1 if the request may be admitted, otherwise 0.
 */
const DECIDE = createRedisScript(`
local time = redis.call('TIME')
local redis_now = tonumber(time[1]) * 1000000 + tonumber(time[2])

local function time_at(log, index)
  local entry = redis.call('LINDEX', log, index)
  return entry and tonumber(string.match(entry, '^%d+$'))
end

local function decide(log, requests, window_ms, may_admit)
  local now, window_us = redis_now, window_ms * 1000
  local used = redis.pcall('LLEN', log)
  local is_ours = type(used) == 'number' and used <= requests
  local oldest, newest
  if is_ours and used > 0 then
    oldest, newest = time_at(log, 0), time_at(log, -1)
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
    used, oldest = used - 1, time_at(log, 0)
  end

  local is_allowed = may_admit and used < requests
  if is_allowed then
    redis.call('RPUSH', log, string.format('%.0f', now))
    redis.call('PEXPIRE', log, window_ms)
    used = used + 1
    oldest = oldest or now
  end
  return is_allowed and 1 or 0, requests - used, oldest and window_us - (now - oldest) or 0, is_ours and 1 or 0
end

local decisions = {}
for index, log in ipairs(KEYS) do
  local requests, window_ms = string.match(log, '^pennant:limit1:(%d+)/(%d+):')
  local may_admit = string.sub(ARGV[1], index, index) == '1'
  local place = 4 * index
  decisions[place - 3], decisions[place - 2], decisions[place - 1], decisions[place] =
    decide(log, tonumber(requests), tonumber(window_ms), may_admit)
end
return decisions
`);
const VALUES_PER_DECISION = 4;

interface RedisRateLimiter extends SharedRateLimiter {
  /** Requests that Redis has not decided yet. */
  stats(): BoundedStats;
}

interface RedisRateLimiterOptions {
  readonly connection: Pick<RedisConnection, 'run'>;
  /** Called when a key contained something other than a log. */
  readonly onRefused?: () => void;
}

interface Question {
  readonly key: string;
  readonly mayAdmit: boolean;
  readonly resolve: (decision: RateLimitDecision) => void;
  readonly reject: (error: unknown) => void;
}

/** Instances that decide alone admit more than the limit, so a decision may take longer than a stored value. */
const DECISION_TIMEOUT_MS = 250;
/** Redis does nothing else while it runs a command. */
const MAX_QUESTIONS_PER_COMMAND = 64;
/** Requests that Redis has not decided yet. Further ones are decided without it. */
const MAX_QUESTIONS = 10_000;

/**
 * Decides together with all instances on the same Redis. Requests that arrive in the same turn of the event loop are
 * decided by one command, one after the other. Exact for any number of concurrent decisions. A log expires with its newest
 * request.
 *
 * `hit` rejects with `RedisUnavailable` if Redis does not respond in time.
 */
export function createRedisRateLimiter({ connection, onRefused }: RedisRateLimiterOptions): RedisRateLimiter {
  let waiting: Question[] = [];
  let undecided = 0;

  function sendWaiting(): void {
    const questions = waiting;
    waiting = [];
    for (let from = 0; from < questions.length; from += MAX_QUESTIONS_PER_COMMAND)
      void ask(questions.slice(from, from + MAX_QUESTIONS_PER_COMMAND));
  }

  async function ask(questions: readonly Question[]): Promise<void> {
    try {
      const keys = questions.map(({ key }) => key);
      const mayAdmit = questions.map((question) => (question.mayAdmit ? '1' : '0')).join('');
      const values = (await connection.run(
        (redis) => DECIDE(redis, keys, [mayAdmit]),
        DECISION_TIMEOUT_MS,
      )) as number[];
      for (const [index, { resolve }] of questions.entries()) resolve(decisionAt(values, VALUES_PER_DECISION * index));
    } catch (error) {
      for (const { reject } of questions) reject(error);
    } finally {
      undecided -= questions.length;
    }
  }

  function decisionAt(values: readonly number[], place: number): RateLimitDecision {
    if (values[place + 3] === 0) onRefused?.();
    const resetMs = (values[place + 2] as number) / 1000;
    return { isAllowed: values[place] === 1, remaining: values[place + 1] as number, resetMs };
  }

  function hit(client: string, { requests, windowMs }: RateLimit, mayAdmit = true): Promise<RateLimitDecision> {
    if (undecided >= MAX_QUESTIONS) {
      return Promise.reject(new RedisUnavailable('Too many decisions wait for Redis.'));
    }
    undecided += 1;
    if (waiting.length === 0) setImmediate(sendWaiting);
    const key = `pennant:limit1:${requests}/${windowMs}:${client}`;
    return new Promise((resolve, reject) => waiting.push({ key, mayAdmit, resolve, reject }));
  }

  return {
    hit,
    stats: () => ({ entries: undecided, maxEntries: MAX_QUESTIONS }),
  };
}
