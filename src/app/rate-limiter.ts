import type { Config } from '../config/settings.ts';
import type { RedisConnection } from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import { createFallbackRateLimiter } from '../rate-limit/fallback.ts';
import type { RateLimiter } from '../rate-limit/limiter.ts';
import { createMemoryRateLimiter } from '../rate-limit/memory.ts';
import { createRedisRateLimiter } from '../rate-limit/redis.ts';

export type ServiceRateLimiter = ReturnType<typeof openRateLimiter>;

/** The limiter of this process, or of all instances with Redis. */
export function openRateLimiter({ rateLimitClients }: Config, runtime: Runtime, redis: RedisConnection | undefined) {
  const { clock, metrics, holders } = runtime;
  const local = createMemoryRateLimiter({ clock, maxClients: rateLimitClients });
  holders.add('rate limit', () => local.stats());
  metrics.addGauge({
    name: 'pennant_limiter_clients',
    help: 'Clients that the rate limiter remembers.',
    read: () => local.stats().entries,
  });
  metrics.addCounter({
    name: 'pennant_limiter_evicted_clients_total',
    help: 'Clients that the rate limiter forgot because it was full.',
    read: () => local.stats().evicted,
  });
  const limiter = redis === undefined ? local : shareLimit(redis, local, runtime);
  return {
    hit: limiter.hit,
    /** Clients that this process remembers, and clients that it evicted because it was full. */
    figures() {
      const { entries: clients, evicted } = local.stats();
      return { clients, evicted };
    },
  };
}

function shareLimit(
  connection: RedisConnection,
  local: ReturnType<typeof createMemoryRateLimiter>,
  { clock, metrics, holders }: Runtime,
): RateLimiter {
  const onRefused = () => metrics.refusedValues.inc({ kind: 'limit' });
  const shared = createRedisRateLimiter({ connection, onRefused });
  const limiter = createFallbackRateLimiter({ shared, local, clock });
  holders.add('rate limit decisions by Redis', shared.stats);
  metrics.addCounter({
    name: 'pennant_limiter_decided_alone_total',
    help: 'Requests that this instance has admitted or refused without the shared Redis.',
    read: () => limiter.stats().decidedAlone,
  });
  return limiter;
}
