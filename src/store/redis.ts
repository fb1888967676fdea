import { randomBytes } from 'node:crypto';
import type { RedisAddress } from '../lib/redis/client.ts';
import {
  createRedisConnection,
  keysLike,
  membersOf,
  PATIENT_TIMINGS,
  type RedisConnection,
  RedisUnavailable,
  RedisWrongType,
} from '../lib/redis/connection.ts';
import { DATA_VERSION, findEntryKind } from './keys.ts';
import { BEGIN_SERIES, ERASE, READ_EPOCH, SET, SWEEP } from './redis-scripts.ts';
import { addErased, containsChannel, type ErasedEntries, hasAny, keysOf, stepsOf } from './removal.ts';
import { type BackingStore, type StoreDriver, type StoredEntry, StoreUnreadableError } from './store.ts';

const REDIS_KEY_PREFIX = 'pennant:';
export const EPOCH_KEY = `${REDIS_KEY_PREFIX}epoch${DATA_VERSION}`;
/** The index of all searches. */
const SEARCHES_KEY = `${REDIS_KEY_PREFIX}searches${DATA_VERSION}`;
/** The index of the names and redirects that lead to a channel. */
const LEADS_PREFIX = `${REDIS_KEY_PREFIX}leads${DATA_VERSION}:`;

/** A script blocks the server. This many searches, with some tens of kilobytes each, take a millisecond. */
const SEARCHES_PER_STEP = 100;
/** About half a megabyte. */
const SEARCHES_PER_READ = 20;

interface RedisStoreOptions {
  /** The caller closes it. */
  readonly connection: RedisConnection;
  /** Called for a value that this store did not write, or that does not match its key. */
  readonly onRefused: (key: string) => void;
  /** Called when Redis was restored from an earlier state, and all values were erased. */
  readonly onRestored: (erased: ErasedEntries) => void;
}

/**
 * A store in Redis or Valkey that instances share. Redis expires the entries. Calls reject with `RedisUnavailable`.
 *
 * The epoch is one key, `{series}:{number}`. The script that erases raises the number, and the script that stores compares it. A
 * Redis that has lost its data begins a new series. A lower number of the same series shows that Redis was restored from
 * an earlier state: its values are erased. Until then, for some seconds, they may be read.
 *
 * A Redis that evicts keys may evict an index before the values in it. Names that lead to a removed channel, or searches, are
 * then not erased before they expire.
 */
export function createRedisStore({ connection, onRefused, onRestored }: RedisStoreOptions): BackingStore {
  /** Values are erased by keys and indexes. */
  async function eraseKeys(values: readonly string[], indexes: readonly string[], mustRaise: boolean) {
    const keys = [EPOCH_KEY, ...values, ...indexes];
    const args = [firstOfSeries(), String(values.length), mustRaise ? '1' : '0'];
    const [epoch, erased] = (await connection.run((redis) => ERASE(redis, keys, args))) as [string, string[]];
    return { epoch, erased: countKinds(erased) };
  }

  /** Erases the searches in steps, so that the script that raises the number finds few of them. */
  async function sweepSearches(): Promise<ErasedEntries> {
    const total: ErasedEntries = {};
    for (;;) {
      const reply = await connection.run((redis) => SWEEP(redis, [SEARCHES_KEY], [String(SEARCHES_PER_STEP)]));
      const [taken, erased] = reply as [taken: number, erased: number];
      addErased(total, { search: erased });
      if (taken < SEARCHES_PER_STEP) return total;
    }
  }

  /** Erases the searches that contain one of the channels. */
  async function eraseSearchesWith(channelIds: ReadonlySet<string>): Promise<ErasedEntries> {
    const total: ErasedEntries = {};
    for await (const keys of membersOf(connection, SEARCHES_KEY, SEARCHES_PER_READ)) {
      const values = await connection.run((redis) => redis.mGet(keys));
      const found = keys.filter((key, at) => containsChannel(channelIds, keyIn(key), values[at] ?? ''));
      if (found.length === 0) continue;
      const search = await connection.run((redis) => redis.unlink(found));
      await connection.run((redis) => redis.zRem(SEARCHES_KEY, found));
      addErased(total, { search });
    }
    return total;
  }

  async function eraseValues(): Promise<ErasedEntries> {
    const erased: ErasedEntries = {};
    for await (const found of keysLike(connection, `${REDIS_KEY_PREFIX}*:*`)) {
      const keys = found.filter((key) => findEntryKind(keyIn(key)) !== undefined || key.startsWith(LEADS_PREFIX));
      if (keys.length > 0) await connection.run((redis) => redis.unlink(keys));
      addErased(erased, countKinds(keys));
    }
    return erased;
  }

  /**
   * Begins a new series and erases all values. Values whose load began before are not stored. Does nothing if the epoch is no
   * longer the expected one.
   */
  async function eraseAll(expected: string) {
    const series = firstOfSeries();
    const begun = await connection.run((redis) => BEGIN_SERIES(redis, [EPOCH_KEY], [expected, series]));
    if (begun !== series) return { epoch: String(begun), erased: undefined };
    const erased = await eraseValues();
    // Instances may have read values into memory meanwhile.
    const { epoch } = await eraseKeys([], [SEARCHES_KEY], true);
    return { epoch, erased };
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
    async set(key, { value, storedAtMs, leadsTo, epoch }, ttlMs) {
      const wholeMs = Math.floor(ttlMs);
      const redisKey = REDIS_KEY_PREFIX + key;
      const index = findEntryKind(key) === 'search' ? SEARCHES_KEY : leadsTo && LEADS_PREFIX + leadsTo;
      const keys = [EPOCH_KEY, redisKey, ...(index === undefined ? [] : [index])];
      const args = [`${storedAtMs} ${value}`, String(wholeMs), epoch];
      await connection.run<unknown>((redis) => (wholeMs < 1 ? redis.del(redisKey) : SET(redis, keys, args)));
    },
    async readEpoch(known) {
      const epoch = String(await connection.run((redis) => READ_EPOCH(redis, [EPOCH_KEY], [firstOfSeries()])));
      if (!isEarlier(epoch, known)) return epoch;
      // Before the number changes: if this fails, the next call tries it again.
      const restored = await eraseValues();
      const { epoch: next, erased } = await eraseAll(epoch);
      if (erased !== undefined) {
        addErased(erased, restored);
        onRestored(erased);
      }
      return next;
    },
    async erase(removal, reason) {
      const isPurge = reason === 'purge';
      const erased = await (isPurge ? sweepSearches() : eraseSearchesWith(new Set(removal.channelIds)));
      let epoch = '';
      for (const step of stepsOf(removal)) {
        const values = keysOf(step).map((key) => REDIS_KEY_PREFIX + key);
        const leads = step.channelIds.map((channelId) => LEADS_PREFIX + channelId);
        const indexes = isPurge ? [SEARCHES_KEY, ...leads] : leads;
        const done = await eraseKeys(values, indexes, isPurge || hasAny(erased));
        addErased(erased, done.erased);
        epoch = done.epoch;
      }
      return { epoch, erased };
    },
    async close() {},
  };
}

function firstOfSeries(): string {
  return `${randomBytes(8).toString('hex')}:0`;
}

/** True for a lower number of the same series. */
function isEarlier(epoch: string, known: string): boolean {
  const [series, number] = epoch.split(':');
  const [knownSeries, knownNumber] = known.split(':');
  return series === knownSeries && Number(number) < Number(knownNumber);
}

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
    open({ connection, runtime: { logger }, onRefused }) {
      if (connection === undefined) throw new Error('The store in Redis needs a connection.');
      return createRedisStore({
        connection,
        onRefused,
        onRestored: (erased) =>
          logger.warn({ erased }, 'Redis was restored from an earlier state: its values were erased'),
      });
    },
  };
}
