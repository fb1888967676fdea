import type { RedisAddress } from '../lib/redis/client.ts';
import {
  createRedisConnection,
  PATIENT_TIMINGS,
  type RedisConnection,
  RedisUnavailable,
  RedisWrongType,
} from '../lib/redis/connection.ts';
import { channelIdsIn, DATA_VERSION, findEntryKind } from './keys.ts';
import { addErased, type ErasedEntries, keysOf, stepsOf } from './removal.ts';
import { type BackingStore, type StoreDriver, type StoredEntry, StoreUnreadableError } from './store.ts';

const REDIS_KEY_PREFIX = 'pennant:';
/** Longer than every value lives that only the index can find. */
const INDEX_TTL_MS = 8 * 86_400_000;
const KEYS_PER_STEP = 200;

interface RedisStoreOptions {
  /** The caller closes it. */
  readonly connection: RedisConnection;
  /** Called for a value that this store did not write, or that does not match its key. */
  readonly onRefused: (key: string) => void;
}

/**
 * A store in Redis or Valkey that instances share. Redis expires the entries. Calls reject with `RedisUnavailable`.
 *
 * For each channel there is a sorted set of the keys that name it, or whose value does, by the time when they expire. A Redis that evicts
 * keys may evict a set before the values in it. They are then not erased before they expire.
 */
export function createRedisStore({ connection, onRefused }: RedisStoreOptions): BackingStore {
  async function eraseKeys(keys: readonly string[]): Promise<ErasedEntries> {
    const counts = await connection.run((redis) => Promise.all(keys.map((key) => redis.unlink(key))));
    const erased: ErasedEntries = {};
    for (const [at, key] of keys.entries()) {
      const kind = findEntryKind(key.slice(REDIS_KEY_PREFIX.length));
      if (kind !== undefined) addErased(erased, { [kind]: counts[at] ?? 0 });
    }
    return erased;
  }

  /** Erases the values that name the channel. */
  async function eraseNaming(channelId: string): Promise<ErasedEntries> {
    const index = indexKey(channelId);
    const erased: ErasedEntries = {};
    for (;;) {
      const keys = await connection.run((redis) => redis.zRange(index, 0, KEYS_PER_STEP - 1));
      if (keys.length === 0) return erased;
      addErased(erased, await eraseKeys(keys));
      await connection.run((redis) => redis.zRem(index, keys));
    }
  }

  return {
    isShared: true,
    async get(key) {
      const text = await unlessWrongType(connection.run((redis) => redis.get(REDIS_KEY_PREFIX + key)));
      if (text === null) return undefined;
      const found = text === undefined ? undefined : parse(text);
      if (found === undefined) onRefused(key);
      return found;
    },
    async set(key, { value, storedAtMs }, ttlMs) {
      const redisKey = REDIS_KEY_PREFIX + key;
      const wholeMs = Math.floor(ttlMs);
      const nowMs = Date.now();
      await connection.run<unknown>((redis) => {
        if (wholeMs < 1) return redis.del(redisKey);
        // Sent together. A value is never without its place in the index, because the value comes last.
        const indexing = [...new Set(channelIdsIn(`${key} ${value}`))].flatMap((channelId) => {
          const index = indexKey(channelId);
          return [
            redis.zRemRangeByScore(index, '-inf', nowMs),
            redis.zAdd(index, { score: nowMs + wholeMs, value: redisKey }),
            redis.pExpire(index, INDEX_TTL_MS),
          ];
        });
        return Promise.all([
          ...indexing,
          redis.set(redisKey, `${storedAtMs} ${value}`, { expiration: { type: 'PX', value: wholeMs } }),
        ]);
      });
    },
    async erase(removal) {
      const erased: ErasedEntries = {};
      for (const step of stepsOf(removal)) {
        addErased(erased, await eraseKeys(keysOf(step).map((key) => REDIS_KEY_PREFIX + key)));
        for (const channelId of step.channelIds) addErased(erased, await eraseNaming(channelId));
      }
      return erased;
    },
    async close() {},
  };
}

function indexKey(channelId: string): string {
  return `${REDIS_KEY_PREFIX}named${DATA_VERSION}:${channelId}`;
}

/** Resolves to `undefined` if the key holds another type. */
async function unlessWrongType<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RedisWrongType) return undefined;
    throw error;
  }
}

/** When the entry was stored. */
const TEXT_FORM = /^(\d{1,16}(?:\.\d{1,16})?) /;

/** Returns `undefined` for a value that this store did not write: others may use the same Redis. */
function parse(text: string): StoredEntry | undefined {
  const [head, storedAtMs] = TEXT_FORM.exec(text) ?? [];
  return head === undefined ? undefined : { value: text.slice(head.length), storedAtMs: Number(storedAtMs) };
}

export function createRedisDriver(address: RedisAddress): StoreDriver {
  /** Runs the work with a connection; `problem` returns why Redis cannot be used, '' if it can. */
  async function withConnection<T>(
    run: (connection: RedisConnection, problem: () => string) => T,
  ): Promise<Awaited<T>> {
    let problem = '';
    const connection = await createRedisConnection({
      address,
      timings: PATIENT_TIMINGS,
      onStateChange(state) {
        problem = state ?? problem;
      },
    });
    try {
      return await run(connection, () => problem);
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error;
      throw new StoreUnreadableError(`Redis is unavailable: ${problem}.`, { cause: error });
    } finally {
      connection.close();
    }
  }

  return {
    where: 'Redis',
    files: [],
    async check() {
      const problem = await withConnection((_, findProblem) => findProblem());
      if (problem === '') return { level: 'ok', text: 'Redis responds' };
      return {
        level: 'warning',
        text: `Redis is not usable: ${problem}; the service starts and works alone until Redis can be used`,
      };
    },
    open({ connection, onRefused }) {
      if (connection === undefined) throw new Error('The store in Redis needs a connection.');
      return createRedisStore({ connection, onRefused });
    },
  };
}
