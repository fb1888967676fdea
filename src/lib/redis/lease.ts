import type { Lease } from '../../sources/source.ts';
import { type RedisConnection, RedisUnavailable } from './connection.ts';

/** One key per task, which expires by itself. */
export function createRedisLease({ connection }: { readonly connection: RedisConnection }): Lease {
  return {
    async tryAcquire(task, ttlMs) {
      try {
        const key = `pennant:lease1:${task}`;
        const set = await connection.run((redis) => redis.set(key, '', { condition: 'NX', PX: ttlMs }));
        return set !== null;
      } catch (error) {
        if (error instanceof RedisUnavailable) return true;
        throw error;
      }
    },
  };
}
