import { createRedisScript, type RedisAddress, type RedisClient } from '../lib/redis/client.ts';
import {
  createRedisConnection,
  keysLike,
  PATIENT_TIMINGS,
  type RedisConnection,
  RedisUnavailable,
  RedisWrongType,
} from '../lib/redis/connection.ts';
import { type Change, type Changes, concernsEntry, createChanges } from './changes.ts';
import { channelIdsIn, findEntryKind, isImage } from './keys.ts';
import { CHANGES_KEY, isLater, type SharedChanges, START } from './shared-changes.ts';
import { type ErasableStore, type StoreBackend, type StoredEntry, StoreUnreadableError } from './store.ts';
import { ABSENT_PREFIX, countEntries, findStoredKind, type Statistics, totalBytes } from './stored-kinds.ts';

export const REDIS_KEY_PREFIX = 'pennant:';
/** The script blocks the server. Searches are the longest values, with some tens of kilobytes each. */
const KEYS_PER_ERASING_STEP = 50;

/**
 * Returns for each key its writer's position in the stream of changes, then the channel IDs in its value. Searching a
 * value takes most of the time, so it is not searched if the argument of its key is ''.
 */
const INSPECT = createRedisScript(`
local id_form = 'UC' .. string.rep('[%w_-]', 22)
local replies = {}
for at, key in ipairs(KEYS) do
  local value = redis.pcall('GET', key)
  if type(value) ~= 'string' then value = '' end
  replies[at] = { string.match(value, '^[%d.]+@(%d+%-%d+) ') or '${START}' }
  if ARGV[at] ~= '' then
    for id in string.gmatch(value, id_form) do table.insert(replies[at], id) end
  end
end
return replies
`);

/** Stores a value unless the stream has a change that the writer does not know yet. */
const SET = createRedisScript(`
local latest = redis.pcall('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
if latest[1] and latest[1][1] ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/**
 * Stores a value that includes the writer's position in the stream of changes.
 *
 * @param key without the prefix
 */
export async function storeInRedis(
  client: RedisClient,
  key: string,
  { value, ttlMs, position }: { readonly value: string | Buffer; readonly ttlMs: number; readonly position: string },
): Promise<void> {
  await SET(client, [REDIS_KEY_PREFIX + key, CHANGES_KEY], [value, String(ttlMs), position]);
}

export interface RedisStoreOptions {
  /** The caller closes it. */
  readonly connection: RedisConnection;
  readonly changes: Changes;
  readonly sharedChanges: Pick<SharedChanges, 'position'>;
  /** Called for a value that this store did not write, or that does not match its key. */
  readonly onRefused?: (key: string) => void;
}

/**
 * A store in Redis or Valkey that instances share. Redis expires the entries. Calls reject with `RedisUnavailable`.
 *
 * Each entry includes its writer's position in the stream of changes. An entry that a later change concerns counts as
 * absent until it is erased.
 */
export function createRedisStore({ connection, changes, sharedChanges, onRefused }: RedisStoreOptions): ErasableStore {
  /** @returns the removed keys, with the prefix */
  async function eraseAmong(keys: string[], change: Change, position: string): Promise<string[]> {
    const isRemoved = (key: string, ids: readonly string[]) => concernsEntry(change, keyIn(key), ids);
    const args = keys.map((key) => (isRemoved(key, SOME_CHANNEL) ? '' : 'search'));
    const replies = (await connection.run((redis) => INSPECT(redis, keys, args))) as string[][];
    const removed = keys.filter((key, at) => {
      const [writersPosition = START, ...channelIds] = replies[at] ?? [];
      return isLater(position, writersPosition) && isRemoved(key, channelIds);
    });
    if (removed.length > 0) await connection.run((redis) => redis.unlink(removed));
    return removed;
  }

  return {
    isShared: true,
    async get(key) {
      const text = await unlessWrongType(connection.run((redis) => redis.get(REDIS_KEY_PREFIX + key)));
      if (text === null) return undefined;
      const found = text === undefined ? undefined : parse(text);
      if (found === undefined) {
        onRefused?.(key);
        return undefined;
      }
      const { position, ...entry } = found;
      const isRemoved = (change: Change) => concernsEntry(change, key, channelIdsIn(entry.value));
      return changes.hasBeyond((id) => isLater(id, position), isRemoved) ? undefined : entry;
    },
    async set(key, entry, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      const position = sharedChanges.position();
      const value = `${entry.storedAtMs}@${position} ${entry.value}`;
      await connection.run<unknown>((redis) => {
        if (wholeMs < 1) return redis.del(REDIS_KEY_PREFIX + key);
        return storeInRedis(redis, key, { value, ttlMs: wholeMs, position });
      });
    },
    async erase(change, position = LATEST) {
      const erased: string[] = [];
      for await (const found of keysLike(connection, `${REDIS_KEY_PREFIX}*:*`)) {
        // Without the logs of the rate limit and the images.
        const keys = found.filter((key) => findEntryKind(keyIn(key)) !== undefined);
        for (let at = 0; at < keys.length; at += KEYS_PER_ERASING_STEP) {
          erased.push(...(await eraseAmong(keys.slice(at, at + KEYS_PER_ERASING_STEP), change, position)));
        }
      }
      return erased.map(keyIn);
    },
    async close() {},
  };
}

/** After every other position: everything that the change concerns is removed. */
const LATEST = '9999999999999999-0';
/** Stands for the IDs in an unknown value. What is removed with them is removed because of its key. */
const SOME_CHANNEL = [''];

function keyIn(redisKey: string): string {
  return redisKey.slice(REDIS_KEY_PREFIX.length);
}

/** Resolves to `undefined` if the key holds another type. */
export async function unlessWrongType<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RedisWrongType) return undefined;
    throw error;
  }
}

/** When the entry was stored, and its writer's position. */
const TEXT_FORM = /^(\d{1,16}(?:\.\d{1,16})?)@(\d{1,16}-\d{1,16}) /;

/** Returns `undefined` for a value that this store did not write: others may use the same Redis. */
function parse(text: string): (StoredEntry & { readonly position: string }) | undefined {
  const [head, storedAtMs, position] = TEXT_FORM.exec(text) ?? [];
  if (head === undefined || position === undefined) return undefined;
  return { value: text.slice(head.length), storedAtMs: Number(storedAtMs), position };
}

export function createRedisBackend(address: RedisAddress): StoreBackend {
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
        text: `Redis is not usable: ${problem}; the service starts and works alone until Redis responds`,
      };
    },
    async readStatistics() {
      const kinds = await withConnection(readRedisStatistics);
      return { kinds, bytes: totalBytes(kinds) };
    },
    read: (key) =>
      withConnection(async (connection) => {
        const store = createRedisStore({
          connection,
          changes: createChanges(),
          sharedChanges: { position: () => START },
        });
        return (await store.get(key))?.value;
      }),
    open({ changes, shared, onRefused }) {
      if (shared === undefined) throw new Error('The store in Redis needs a connection.');
      return createRedisStore({ ...shared, changes, onRefused });
    },
  };
}

/** Returns the image's key in a Redis key, of any form; `undefined` if it is not an image. */
export function findImageKey(redisKey: string): string | undefined {
  if (!redisKey.startsWith(REDIS_KEY_PREFIX)) return undefined;
  const key = keyIn(redisKey).replace(/^bytes\d+:/, '');
  return isImage(key) ? key : undefined;
}

/** Enough of a value for the time, the position and `ABSENT_PREFIX`. */
const HEAD_BYTES = 80;

/** Counts all shared values, images included. Rejects with `RedisUnavailable`. */
async function readRedisStatistics(connection: RedisConnection): Promise<Statistics> {
  const statistics: Statistics = {};
  async function count(redisKey: string): Promise<void> {
    const key = findImageKey(redisKey) ?? keyIn(redisKey);
    const kind = findStoredKind(key);
    if (kind === undefined) return;
    // The service did not write a key of another type.
    const found = await unlessWrongType(
      connection.run((redis) => Promise.all([redis.strLen(redisKey), redis.getRange(redisKey, 0, HEAD_BYTES)])),
    );
    if (found === undefined) return;
    const [length, head] = found;
    const [storedAt = '', value = ''] = (head ?? '').split(' ', 2);
    countEntries(statistics, value.startsWith(ABSENT_PREFIX) ? 'negatives' : kind, {
      entries: 1,
      bytes: redisKey.length - REDIS_KEY_PREFIX.length + length,
      // The writer's position follows the time.
      oldestMs: isImage(key) ? undefined : Number.parseFloat(storedAt),
    });
  }

  for await (const keys of keysLike(connection, `${REDIS_KEY_PREFIX}*`)) await Promise.all(keys.map(count));
  return statistics;
}
