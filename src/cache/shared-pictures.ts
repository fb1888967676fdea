import type { RESP_TYPES } from '@redis/client';
import { type RedisConnection, RedisUnavailable } from '../lib/redis/connection.ts';

/** Pictures that one instance has made and the others need not make again. Its failures are misses. */
export interface SharedPictures {
  get(key: string): Promise<Buffer | undefined>;
  /** Keeps the picture unless it is too large. */
  set(key: string, bytes: Buffer): Promise<void>;
  delete(key: string): Promise<void>;
}

export interface SharedPicturesOptions {
  readonly connection: RedisConnection;
  readonly maxPictureBytes: number;
}

const KEY_PREFIX = 'pennant:';
/** By its number, the protocol's `$`: the library is loaded where there is a Redis only. */
const BLOB_STRING: typeof RESP_TYPES.BLOB_STRING = 36;
/** As long as a picture is fresh: instances that need it for longer have it on their own disk by then. */
const KEPT_MS = 86_400_000;

export function createSharedPictures({ connection, maxPictureBytes }: SharedPicturesOptions): SharedPictures {
  return {
    async get(key) {
      const bytes = await missIfUnavailable(
        connection.run((redis) => redis.withTypeMapping({ [BLOB_STRING]: Buffer }).get(KEY_PREFIX + key)),
      );
      return bytes ?? undefined;
    },
    async set(key, bytes) {
      if (bytes.length > maxPictureBytes) return;
      await missIfUnavailable(connection.run((redis) => redis.set(KEY_PREFIX + key, bytes, { PX: KEPT_MS })));
    },
    async delete(key) {
      await missIfUnavailable(connection.run((redis) => redis.del(KEY_PREFIX + key)));
    },
  };
}

/** The connection itself reports that Redis is not used. */
async function missIfUnavailable<T>(running: Promise<T>): Promise<T | undefined> {
  try {
    return await running;
  } catch (error) {
    if (error instanceof RedisUnavailable) return undefined;
    throw error;
  }
}
