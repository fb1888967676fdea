import { createHash } from 'node:crypto';
import type { RESP_TYPES } from '@redis/client';
import { sniffFormat } from '../domain/formats.ts';
import { keysLike, RedisUnavailable } from '../lib/redis/connection.ts';
import { type Change, concernsImage } from '../store/changes.ts';
import { checksumOf, digestOfOriginal, formatOfImage } from '../store/keys.ts';
import {
  findImageKey,
  REDIS_KEY_PREFIX,
  type RedisStoreOptions,
  storeInRedis,
  unlessWrongType,
} from '../store/redis.ts';
import { isLater } from '../store/shared-changes.ts';

export interface SharedImagesOptions extends RedisStoreOptions {
  readonly maxImageBytes: number;
}

/** The protocol's `$` as a number, because the library is loaded only with Redis. */
const BLOB_STRING: typeof RESP_TYPES.BLOB_STRING = 36;
/** As long as an image is fresh. Instances that need it for longer have it on disk. */
const KEPT_MS = 86_400_000;
/**
 * The version of the value's form: a checksum, the length of the writer's position in the stream of changes, the
 * position, and the image's bytes. Keys of form 1 (only the bytes) have no prefix; they are no longer read, but still
 * erased.
 */
const FORM = 'bytes2:';
const CHECKSUM_BYTES = 4;
const POSITION_AT = CHECKSUM_BYTES + 1;

export type SharedImages = ReturnType<typeof createSharedImages>;

/** Images in Redis that all instances share. Failures to read or write are misses. */
export function createSharedImages(options: SharedImagesOptions) {
  const { connection, changes, sharedChanges, maxImageBytes, onRefused } = options;

  return {
    async get(key: string): Promise<Buffer | undefined> {
      const reading = connection.run((redis) =>
        redis.withTypeMapping({ [BLOB_STRING]: Buffer }).get(REDIS_KEY_PREFIX + FORM + key),
      );
      const value = await unlessUnavailable(unlessWrongType(reading));
      if (value === null) return undefined;
      const found = value === undefined ? undefined : unpack(key, value);
      if (found === undefined) {
        onRefused?.(key);
        return undefined;
      }
      const isRemoved = (change: Change) => concernsImage(change, key);
      return changes.hasBeyond((id) => isLater(id, found.position), isRemoved) ? undefined : found.bytes;
    },
    /** Stores the image unless it is too large. */
    async set(key: string, bytes: Buffer): Promise<void> {
      if (bytes.length > maxImageBytes) return;
      const position = sharedChanges.position();
      const value = pack(key, position, bytes);
      const entry = { value, ttlMs: KEPT_MS, position };
      await unlessUnavailable(connection.run((redis) => storeInRedis(redis, FORM + key, entry)));
    },
    /** Removes the images that the change concerns. Rejects with `RedisUnavailable`. */
    async erase(change: Change): Promise<void> {
      if (!change.includesImages) return;
      for await (const keys of keysLike(connection, `${REDIS_KEY_PREFIX}*/*`)) {
        const removed = keys.filter((redisKey) => {
          const key = findImageKey(redisKey);
          return key !== undefined && concernsImage(change, key);
        });
        if (removed.length > 0) await connection.run((redis) => redis.unlink(removed));
      }
    },
  };
}

/** Resolves to `null` while Redis is unavailable. The connection itself reports the outage. */
async function unlessUnavailable<T>(calling: Promise<T>): Promise<T | null> {
  try {
    return await calling;
  } catch (error) {
    if (error instanceof RedisUnavailable) return null;
    throw error;
  }
}

function pack(key: string, position: string, bytes: Buffer): Buffer {
  const value = Buffer.concat([Buffer.alloc(POSITION_AT), Buffer.from(position), bytes]);
  value.writeUInt8(position.length, CHECKSUM_BYTES);
  value.writeUInt32BE(checksumOf(key, value.subarray(CHECKSUM_BYTES)));
  return value;
}

/** Returns `undefined` for a damaged value, and for an image that does not match its key. */
function unpack(key: string, value: Buffer): { readonly position: string; readonly bytes: Buffer } | undefined {
  if (value.length <= POSITION_AT) return undefined;
  if (checksumOf(key, value.subarray(CHECKSUM_BYTES)) !== value.readUInt32BE()) return undefined;
  const bytesAt = POSITION_AT + value.readUInt8(CHECKSUM_BYTES);
  const bytes = value.subarray(bytesAt);
  if (!isNamedBy(key, bytes)) return undefined;
  return { position: value.toString('latin1', POSITION_AT, bytesAt), bytes };
}

function isNamedBy(key: string, bytes: Buffer): boolean {
  const format = sniffFormat(bytes);
  const digest = digestOfOriginal(key);
  if (digest === undefined) return format !== undefined && format === formatOfImage(key);
  return format !== undefined && createHash('sha256').update(bytes).digest('hex').startsWith(digest);
}
