import { type EntryKind, findEntryKind, isOriginalBytes, isPicture } from './keys.ts';

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

export type StoredKind = (typeof STORED_KINDS)[number];

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

/** How a stored value begins that says "no such channel" (`entry.ts`). */
export const ABSENT_PREFIX = '{"absent":';

/** `undefined` for a key that is not of the stores. */
export function findStoredKind(key: string): StoredKind | undefined {
  if (isOriginalBytes(key)) return 'originals';
  // Of those, Redis has only what everybody asks for.
  if (isPicture(key)) return 'variants';
  const kind = findEntryKind(key);
  return kind && KINDS_OF_ENTRIES[kind];
}

export function createStatisticsCounter() {
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

export function totalBytes(kinds: Statistics): number {
  return Object.values(kinds).reduce((total, { bytes }) => total + bytes, 0);
}
