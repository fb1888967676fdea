import { type EntryKind, findEntryKind } from './keys.ts';

/** The stored kinds that operators see. `negatives` are entries for "no such channel". */
export const STORED_KINDS = [
  'records',
  'names',
  'negatives',
  'searches',
  'publishedTimes',
  'imageDetails',
  'quotas',
  'originals',
  'variants',
  'ownSizes',
] as const;

export type StoredKind = (typeof STORED_KINDS)[number];

interface KindStatistics {
  readonly entries: number;
  /** Size of keys and values, or of files on disk. */
  readonly bytes: number;
  /** When the oldest was stored, milliseconds since 1970; `undefined` if unknown. */
  readonly oldestMs?: number | undefined;
}

const KINDS_OF_ENTRIES: Record<EntryKind, StoredKind> = {
  channel: 'records',
  name: 'names',
  search: 'searches',
  published: 'publishedTimes',
  original: 'imageDetails',
  kept: 'quotas',
};

export type Statistics = Partial<Record<StoredKind, KindStatistics>>;

/** The prefix of a stored "no such channel" (`entry.ts`). */
export const ABSENT_PREFIX = '{"absent":';

/** Returns `undefined` for a foreign key. */
export function findStoredKind(key: string): StoredKind | undefined {
  const kind = findEntryKind(key);
  return kind && KINDS_OF_ENTRIES[kind];
}

/** Adds entries to the statistics. Foreign entries, which have no kind, are not counted. */
export function countEntries(statistics: Statistics, kind: StoredKind | undefined, added: KindStatistics): void {
  if (kind === undefined) return;
  const { entries, bytes, oldestMs } = statistics[kind] ?? { entries: 0, bytes: 0 };
  const times = [oldestMs, added.oldestMs].filter((time) => time !== undefined);
  statistics[kind] = {
    entries: entries + added.entries,
    bytes: bytes + added.bytes,
    oldestMs: times.length === 0 ? undefined : Math.min(...times),
  };
}
