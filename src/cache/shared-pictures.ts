import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { RESP_TYPES } from '@redis/client';
import { sniffFormat } from '../domain/formats.ts';
import { type RedisConnection, RedisUnavailable, RedisWrongType } from '../lib/redis/connection.ts';
import { keysLike } from '../lib/redis/keys-like.ts';
import { channelOfPicture, digestOfOriginal, formatOfPicture, isPicture } from './keys.ts';
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
  /** Called for a value that is not the picture that its key names. */
  readonly onRefused?: (key: string) => void;
}

/** By its number, the protocol's `$`: the library is loaded where there is a Redis only. */
const BLOB_STRING: typeof RESP_TYPES.BLOB_STRING = 36;
/** As long as a picture is fresh: instances that need it for longer have it on their own disk by then. */
const KEPT_MS = 86_400_000;
/**
 * Goes up with the form of the value: a checksum and the picture's bytes. Form 1, the bytes alone, had its keys without
 * this; it is not read any more and still erased.
 */
const FORM = 'bytes2:';
const CHECKSUM_BYTES = 4;

export function createSharedPictures(options: SharedPicturesOptions): SharedPictures {
  const { connection, maxPictureBytes, onRefused } = options;

  async function erase(isMeant: (key: string) => boolean): Promise<void> {
    for await (const keys of keysLike(connection, `${REDIS_KEY_PREFIX}*/*`)) {
      const meant = keys.filter((redisKey) => {
        const key = findPictureKey(redisKey);
        return key !== undefined && isMeant(key);
      });
      if (meant.length > 0) await connection.run((redis) => redis.unlink(meant));
    }
  }

  /** `null` where there is nothing, `undefined` where there is another type. */
  async function valueUnder(key: string): Promise<Buffer | null | undefined> {
    try {
      return await connection.run((redis) =>
        redis.withTypeMapping({ [BLOB_STRING]: Buffer }).get(REDIS_KEY_PREFIX + FORM + key),
      );
    } catch (error) {
      if (error instanceof RedisWrongType) return undefined;
      if (error instanceof RedisUnavailable) return null;
      throw error;
    }
  }

  return {
    async get(key) {
      const value = await valueUnder(key);
      if (value === null) return undefined;
      const bytes = value === undefined ? undefined : unpack(key, value);
      if (bytes === undefined) onRefused?.(key);
      return bytes;
    },
    async set(key, bytes) {
      if (bytes.length > maxPictureBytes) return;
      const value = pack(key, bytes);
      try {
        await connection.run((redis) => redis.set(REDIS_KEY_PREFIX + FORM + key, value, { PX: KEPT_MS }));
      } catch (error) {
        // The connection itself reports that Redis is not used.
        if (!(error instanceof RedisUnavailable)) throw error;
      }
    },
    eraseChannels: (channelIds) => erase((key) => channelIds.has(channelOfPicture(key))),
    eraseAll: () => erase(() => true),
  };
}

/** The picture's key out of one in Redis, in whatever form; `undefined` for what is no picture. */
export function findPictureKey(redisKey: string): string | undefined {
  if (!redisKey.startsWith(REDIS_KEY_PREFIX)) return undefined;
  const key = redisKey.slice(REDIS_KEY_PREFIX.length).replace(/^bytes\d+:/, '');
  return isPicture(key) ? key : undefined;
}

function pack(key: string, bytes: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(checksumOf(key, bytes));
  return Buffer.concat([checksum, bytes]);
}

/** The picture; `undefined` for a damaged value, and for one that is no picture of the kind that the key names. */
function unpack(key: string, value: Buffer): Buffer | undefined {
  if (value.length <= CHECKSUM_BYTES) return undefined;
  const bytes = value.subarray(CHECKSUM_BYTES);
  const isWhole = checksumOf(key, bytes) === value.readUInt32BE();
  return isWhole && isNamedBy(key, bytes) ? bytes : undefined;
}

function isNamedBy(key: string, bytes: Buffer): boolean {
  const format = sniffFormat(bytes);
  const digest = digestOfOriginal(key);
  if (digest === undefined) return format !== undefined && format === formatOfPicture(key);
  return format !== undefined && createHash('sha256').update(bytes).digest('hex').startsWith(digest);
}

/** Over the key too: a picture is of use under its own key alone. */
function checksumOf(key: string, bytes: Buffer): number {
  return crc32(bytes, crc32(key));
}
