import type { RedisConnection } from './connection.ts';

/** Looked at in one step of the server, which does nothing else meanwhile. */
const KEYS_PER_STEP = 500;

/**
 * All keys that fit the pattern, in batches; one that is written or removed meanwhile may be missing, and a key may come
 * twice. Rejects with `RedisUnavailable`.
 */
export async function* keysLike(connection: RedisConnection, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const from = cursor;
    const step = await connection.run((redis) => redis.scan(from, { MATCH: pattern, COUNT: KEYS_PER_STEP }));
    cursor = step.cursor;
    if (step.keys.length > 0) yield step.keys;
  } while (cursor !== '0');
}
