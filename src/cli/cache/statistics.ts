import { statSync } from 'node:fs';
import { isWrongType, keysLike, type RedisConnection } from '../../lib/redis/connection.ts';
import { fileBytesOf } from '../../picture-store/file-names.ts';
import { fileNamesIn } from '../../picture-store/file-scan.ts';
import { findPictureKey } from '../../picture-store/shared-pictures.ts';
import { type EntryKind, findEntryKind, isOriginalBytes, isPicture } from '../../store/keys.ts';
import { REDIS_KEY_PREFIX } from '../../store/redis.ts';
import { lookInto } from '../../store/sqlite-schema.ts';

/** What is stored, as an operator looks at it; "no such channel" (`negatives`) counts apart from what was found. */
export const STORED_KINDS = [
  'records',
  'names',
  'negatives',
  'searches',
  'publishedTimes',
  'pictureDetails',
  'learned',
  'originals',
  'variants',
  'ownSizes',
] as const;

type StoredKind = (typeof STORED_KINDS)[number];

export interface KindStatistics {
  readonly entries: number;
  /** Of keys and values, or what files take on the disk. */
  readonly bytes: number;
  /** When the oldest was stored, milliseconds since 1970; `undefined` where that is not written down. */
  readonly oldestMs?: number | undefined;
}

const KINDS_OF_ENTRIES: Record<EntryKind, StoredKind> = {
  channel: 'records',
  name: 'names',
  search: 'searches',
  published: 'publishedTimes',
  original: 'pictureDetails',
  refinement: 'pictureDetails',
  kept: 'learned',
};

export type Statistics = Readonly<Partial<Record<StoredKind, KindStatistics>>>;

/** How a value begins that says "no such channel" (`read-through.ts`). */
const ABSENT_PREFIX = '{"absent":';
/** Of a value in Redis: enough for the time and that prefix. */
const HEAD_BYTES = 80;

/**
 * Of `cache.db`, also while a service uses it; changes nothing. `undefined` where there is none.
 *
 * @throws CacheUnreadableError when it is damaged or of another version
 */
export function findDatabaseStatistics(path: string): { bytes: number; kinds: Statistics } | undefined {
  const bytes = sizeOf(path);
  if (bytes === 0) return undefined;
  return lookInto(path, (db) => {
    const rows = db.prepare(`
      SELECT substr(key, 1, instr(key, ':')) AS prefix, substr(value, 1, length(:absent)) = :absent AS isAbsent,
        count(*) AS entries, sum(octet_length(key) + octet_length(value)) AS bytes, min(stored_at_ms) AS oldestMs
      FROM entries GROUP BY prefix, isAbsent`);
    const counter = createCounter();
    for (const { prefix, isAbsent, entries, bytes, oldestMs } of rows.iterate({ absent: ABSENT_PREFIX })) {
      const kind = isAbsent === 1 ? 'negatives' : findStoredKind(String(prefix));
      counter.add(kind, { entries: Number(entries), bytes: Number(bytes), oldestMs: Number(oldestMs) });
    }
    return { bytes: bytes + sizeOf(`${path}-wal`), kinds: counter.statistics };
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Of all that instances share, pictures included. Rejects with `RedisUnavailable`. */
export async function readRedisStatistics(connection: RedisConnection): Promise<Statistics> {
  const counter = createCounter();
  for await (const keys of keysLike(connection, `${REDIS_KEY_PREFIX}*`)) {
    const own = keys.filter((key) => findStoredKind(storeKeyOf(key)) !== undefined);
    for (const { redisKey, length, head } of await readHeads(connection, own)) {
      const key = storeKeyOf(redisKey);
      const [storedAt = '', value = ''] = head.split(' ', 2);
      const kind = value.startsWith(ABSENT_PREFIX) ? 'negatives' : findStoredKind(key);
      // Behind the time stands which changes the writer knew.
      const oldestMs = isPicture(key) ? undefined : Number.parseFloat(storedAt);
      counter.add(kind, { entries: 1, bytes: redisKey.length - REDIS_KEY_PREFIX.length + length, oldestMs });
    }
  }
  return counter.statistics;
}

function storeKeyOf(redisKey: string): string {
  return findPictureKey(redisKey) ?? redisKey.slice(REDIS_KEY_PREFIX.length);
}

interface ValueHead {
  readonly redisKey: string;
  readonly length: number;
  readonly head: string;
}

/** Those of texts: a key of another type is not ours. */
async function readHeads(connection: RedisConnection, keys: readonly string[]): Promise<ValueHead[]> {
  const heads = await connection.run((redis) =>
    Promise.all(
      keys.map(async (redisKey): Promise<ValueHead | undefined> => {
        try {
          const [length, head] = await Promise.all([redis.strLen(redisKey), redis.getRange(redisKey, 0, HEAD_BYTES)]);
          return { redisKey, length, head: head ?? '' };
        } catch (error) {
          if (isWrongType(error)) return undefined;
          throw error;
        }
      }),
    ),
  );
  return heads.filter((head) => head !== undefined);
}

/** Of the pictures on disk. */
export async function readFileStatistics(directory: string): Promise<Statistics> {
  const counter = createCounter();
  for await (const { bytes, fileClass, isOriginal } of fileNamesIn(directory)) {
    const ofClass = fileClass === 'custom' ? 'ownSizes' : 'variants';
    counter.add(isOriginal ? 'originals' : ofClass, { entries: 1, bytes: fileBytesOf(bytes) });
  }
  return counter.statistics;
}

/** `undefined` for a key that is not of the stores. */
function findStoredKind(key: string): StoredKind | undefined {
  if (isOriginalBytes(key)) return 'originals';
  // Of those, Redis has only what everybody asks for.
  if (isPicture(key)) return 'variants';
  const kind = findEntryKind(key);
  return kind && KINDS_OF_ENTRIES[kind];
}

function createCounter() {
  const statistics: Partial<Record<StoredKind, KindStatistics>> = {};
  return {
    statistics,
    add(kind: StoredKind | undefined, added: KindStatistics): void {
      if (kind === undefined) return;
      const { entries, bytes, oldestMs } = statistics[kind] ?? { entries: 0, bytes: 0 };
      const times = [oldestMs, added.oldestMs].filter((time) => time !== undefined);
      statistics[kind] = {
        entries: entries + added.entries,
        bytes: bytes + added.bytes,
        oldestMs: times.length === 0 ? undefined : Math.min(...times),
      };
    },
  };
}
