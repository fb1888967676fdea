import type { RESP_TYPES } from '@redis/client';
import { type RedisConnection, RedisUnavailable } from '../lib/redis/connection.ts';
import { keysLike } from '../lib/redis/keys-like.ts';
import { channelOfPicture, isPicture } from './keys.ts';
import { REDIS_KEY_PREFIX } from './redis.ts';

/** Pictures that one instance has made and the others need not make again. Failures to read or write are misses. */
export interface SharedPictures {
  get(key: string): Promise<Buffer | undefined>;
  /** Keeps the picture unless it is too large. */
  set(key: string, bytes: Buffer): Promise<void>;
  /** Rejects with `RedisUnavailable`. */
  eraseChannels(channelIds: ReadonlySet<string>): Promise<void>;
  /** Rejects with `RedisUnavailable`. */
  eraseAll(): Promise<void>;
}

export interface SharedPicturesOptions {
  readonly connection: RedisConnection;
  readonly maxPictureBytes: number;
}

/** By its number, the protocol's `$`: the library is loaded where there is a Redis only. */
const BLOB_STRING: typeof RESP_TYPES.BLOB_STRING = 36;
/** As long as a picture is fresh: instances that need it for longer have it on their own disk by then. */
const KEPT_MS = 86_400_000;

export function createSharedPictures({ connection, maxPictureBytes }: SharedPicturesOptions): SharedPictures {
  async function erase(isMeant: (key: string) => boolean): Promise<void> {
    for await (const keys of keysLike(connection, `${REDIS_KEY_PREFIX}*/*`)) {
      const meant = keys.filter((prefixed) => {
        const key = prefixed.slice(REDIS_KEY_PREFIX.length);
        return isPicture(key) && isMeant(key);
      });
      if (meant.length > 0) await connection.run((redis) => redis.unlink(meant));
    }
  }

  return {
    async get(key) {
      const bytes = await missIfUnavailable(
        connection.run((redis) => redis.withTypeMapping({ [BLOB_STRING]: Buffer }).get(REDIS_KEY_PREFIX + key)),
      );
      return bytes ?? undefined;
    },
    async set(key, bytes) {
      if (bytes.length > maxPictureBytes) return;
      await missIfUnavailable(connection.run((redis) => redis.set(REDIS_KEY_PREFIX + key, bytes, { PX: KEPT_MS })));
    },
    eraseChannels: (channelIds) => erase((key) => channelIds.has(channelOfPicture(key))),
    eraseAll: () => erase(() => true),
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
