import type { RedisAddress } from '../lib/redis/client.ts';
import {
  createRedisConnection,
  keysLike,
  PATIENT_TIMINGS,
  type RedisConnection,
  RedisUnavailable,
  RedisWrongType,
} from '../lib/redis/connection.ts';
import type { Runtime } from '../lib/runtime.ts';
import { parseJson } from '../lib/shape.ts';
import { DATA_VERSION, findEntryKind, isReplaceable, prefixOf } from './keys.ts';
import { ERASE, RECEIVE, type ReceiveReply, SET, SWEEP } from './redis-scripts.ts';
import { addErased, type ErasedEntries, EVERYTHING, isRemoval, keysOf, type Removal, stepsOf } from './removal.ts';
import { type SharedStore, type StoreBackend, type StoredEntry, StoreUnreadableError } from './store.ts';
import { ABSENT_PREFIX, countEntries, findStoredKind, type Statistics, totalBytes } from './stored-kinds.ts';

const REDIS_KEY_PREFIX = 'pennant:';
/** The stream of erasures. */
export const REMOVALS_KEY = `${REDIS_KEY_PREFIX}removals${DATA_VERSION}`;
/** The index of all searches. */
const SEARCHES_KEY = `${REDIS_KEY_PREFIX}searches${DATA_VERSION}`;
/** The index of the names and redirects that lead to a channel. */
const LEADS_PREFIX = `${REDIS_KEY_PREFIX}leads${DATA_VERSION}:`;

/** An instance that has missed more erasures deletes all its images. */
const MAX_REMOVALS = 1_000;
const REMOVALS_PER_STEP = 100;
/** A script blocks the server. This many searches, with some tens of kilobytes each, take a millisecond. */
const SEARCHES_PER_STEP = 100;

interface RedisStoreOptions {
  /** The caller closes it. */
  readonly connection: RedisConnection;
  readonly epochs: Pick<Runtime['epochs'], 'next'>;
  readonly startPosition: string | undefined;
  /** Called for a value that this store did not write, or that does not match its key. */
  readonly onRefused: (key: string) => void;
}

/**
 * A store in Redis or Valkey that instances share. Redis expires the entries. Calls reject with `RedisUnavailable`.
 *
 * Every erasure has a position. A value is stored only if its writer knows the latest one, and the keys of searches include
 * the position: an erasure hides all of them at once.
 *
 * A Redis that evicts keys may evict an index before the values in it. Names that lead to a removed channel, or hidden
 * searches, are then not erased before they expire.
 */
export function createRedisStore({ connection, epochs, startPosition, onRefused }: RedisStoreOptions): SharedStore {
  let position = startPosition;

  function redisKeyOf(key: string): string {
    if (findEntryKind(key) !== 'search') return REDIS_KEY_PREFIX + key;
    return `${REDIS_KEY_PREFIX}${prefixOf('search')}${position ?? ''}:${key.slice(prefixOf('search').length)}`;
  }

  /** @returns the kinds of the erased entries */
  async function eraseStep(step: Removal & { readonly channelIds: readonly string[] }, told: Removal) {
    const values = keysOf(step).map((key) => REDIS_KEY_PREFIX + key);
    const indexes = step.channelIds.map((channelId) => LEADS_PREFIX + channelId);
    const args = [String(MAX_REMOVALS), JSON.stringify({ ...told, names: [] }), String(values.length)];
    const keys = [REMOVALS_KEY, SEARCHES_KEY, ...values, ...indexes];
    const reply = await connection.run((redis) => ERASE(redis, keys, args));
    const [before, id, erased] = reply as [before: string, id: string, erased: string[]];
    // All earlier erasures are known here, so this instance may store again at once.
    if (before === (position ?? '')) position = id;
    return { ...countKinds(erased), search: await sweep(`${SEARCHES_KEY}:${id}`) };
  }

  async function sweep(index: string): Promise<number> {
    let total = 0;
    for (;;) {
      const reply = await connection.run((redis) => SWEEP(redis, [index], [String(SEARCHES_PER_STEP)]));
      const [taken, erased] = reply as [taken: number, erased: number];
      total += erased;
      if (taken < SEARCHES_PER_STEP) return total;
    }
  }

  /** Removes all entries of the kinds, by their keys. Other instances are told before it and, to empty their memory, after it. */
  async function eraseKinds(removal: Removal): Promise<ErasedEntries> {
    const erased = await eraseStep({ ...removal, channelIds: [] }, removal);
    const isErased = (key: string) => {
      const kind = findEntryKind(keyIn(key));
      return kind === undefined ? key.startsWith(LEADS_PREFIX) : removal.includesImages || isReplaceable(kind);
    };
    for await (const found of keysLike(connection, `${REDIS_KEY_PREFIX}*:*`)) {
      const keys = found.filter(isErased);
      if (keys.length > 0) await connection.run((redis) => redis.unlink(keys));
      addErased(erased, countKinds(keys));
    }
    addErased(erased, await eraseStep(NOTHING, NOTHING));
    return erased;
  }

  return {
    isShared: true,
    async get(key) {
      const text = await unlessWrongType(connection.run((redis) => redis.get(redisKeyOf(key))));
      if (text === null) return undefined;
      const found = text === undefined ? undefined : parse(text);
      if (found === undefined) onRefused(key);
      return found;
    },
    async set(key, { value, storedAtMs, leadsTo }, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      const redisKey = redisKeyOf(key);
      const index = findEntryKind(key) === 'search' ? SEARCHES_KEY : leadsTo && LEADS_PREFIX + leadsTo;
      const keys = [redisKey, REMOVALS_KEY, ...(index === undefined ? [] : [index])];
      const args = [`${storedAtMs} ${value}`, String(wholeMs), position ?? ''];
      await connection.run<unknown>((redis) => (wholeMs < 1 ? redis.del(redisKey) : SET(redis, keys, args)));
    },
    async erase(removal) {
      if (removal.channelIds === 'all') return eraseKinds(removal);
      const erased: ErasedEntries = {};
      for (const step of stepsOf(removal)) addErased(erased, await eraseStep(step, step));
      return erased;
    },
    async receive() {
      const removals: Removal[] = [];
      for (;;) {
        const args = [position ?? '', String(REMOVALS_PER_STEP), JSON.stringify(NOTHING)];
        const reply = await connection.run((redis) => RECEIVE(redis, [REMOVALS_KEY], args));
        const [relation, last, after] = reply as ReceiveReply;
        if (relation === 'lost') {
          // Redis was restored from an earlier state: what was erased since then is in it again.
          epochs.next('purge');
          await eraseKinds(EVERYTHING);
          position = undefined;
          continue;
        }
        if (relation === 'known' && after.length === 0) return removals;
        // Together: what is read from now on was stored after these erasures.
        position = after.at(-1)?.[0] ?? last;
        const received = relation === 'behind' ? [EVERYTHING] : after.map(([, [, json = '']]) => removalIn(json));
        epochs.next(received.some(({ includesImages }) => includesImages) ? 'purge' : 'change');
        removals.push(...received);
      }
    },
    position: () => position,
    async close() {},
  };

  function removalIn(json: string): Removal {
    const removal = parseJson(json, isRemoval);
    if (removal === undefined) onRefused(REMOVALS_KEY);
    return removal ?? EVERYTHING;
  }
}

/** Ends the epoch of other instances, and hides the searches. */
const NOTHING = { channelIds: [], names: [], includesImages: false } satisfies Removal;

function countKinds(redisKeys: readonly string[]): ErasedEntries {
  const counts: ErasedEntries = {};
  for (const kind of redisKeys.map((key) => findEntryKind(keyIn(key))))
    if (kind !== undefined) addErased(counts, { [kind]: 1 });
  return counts;
}

function keyIn(redisKey: string): string {
  return redisKey.slice(REDIS_KEY_PREFIX.length);
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
        const text = await unlessWrongType(connection.run((redis) => redis.get(REDIS_KEY_PREFIX + key)));
        return text ? parse(text)?.value : undefined;
      }),
    open({ connection, runtime: { epochs }, startPosition, onRefused }) {
      if (connection === undefined) throw new Error('The store in Redis needs a connection.');
      return createRedisStore({ connection, epochs, startPosition, onRefused });
    },
  };
}

/** Enough of a value for the time and `ABSENT_PREFIX`. */
const HEAD_BYTES = 50;

/** Counts all shared values. Rejects with `RedisUnavailable`. */
async function readRedisStatistics(connection: RedisConnection): Promise<Statistics> {
  const statistics: Statistics = {};
  async function count(redisKey: string): Promise<void> {
    const kind = findStoredKind(keyIn(redisKey));
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
      oldestMs: Number(storedAt),
    });
  }

  for await (const keys of keysLike(connection, `${REDIS_KEY_PREFIX}*`)) await Promise.all(keys.map(count));
  return statistics;
}
