import { type RedisConnection, RedisUnavailable } from './connection.ts';

/** A lease (`sources/source.ts`) of all instances: one key per task, which expires by itself. */
export function createRedisLease({ connection }: { readonly connection: RedisConnection }) {
  return {
    async tryAcquire(task: string, ttlMs: number): Promise<boolean> {
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
