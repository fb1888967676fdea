import type { Channel, KnownChannel, SearchHit } from '../domain/channel.ts';
import type { SourceFormat } from '../domain/formats.ts';
import type { Size } from '../domain/variants.ts';
import type { Cache } from './cache.ts';

/** The cached value of a channel ID: the record, or the ID that upstream redirects to. */
export type ChannelEntry = StoredRecord | { readonly movedTo: string };

export interface StoredRecord extends KnownChannel {
  /** Milliseconds since 1970. */
  readonly loadedAtMs: number;
  /** When upstream last sent the fields that it did not send this time, milliseconds since 1970. */
  readonly lastSeenAtMs: Partial<Readonly<Record<keyof Channel, number>>>;
}

/** The metadata of an original. */
export interface Original extends Size {
  readonly format: SourceFormat;
  readonly hasAlpha: boolean;
  /** The key of the `OriginalRef` that it was loaded from. */
  readonly refKey: string;
  /** The first 32 hex digits of the SHA-256 of its bytes. */
  readonly digest: string;
  /** When these bytes were first stored, milliseconds since 1970. Later than that of the bytes that they replaced. */
  readonly firstStoredAtMs: number;
}

/** The caches of what is fetched. */
export interface Caches {
  readonly records: Cache<ChannelEntry>;
  readonly names: Cache<string>;
  /** The channels that a source found, best first. */
  readonly searches: Cache<readonly SearchHit[]>;
  readonly originals: Cache<Original>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const GRACE_MS = 7 * DAY_MS;
/** A stale value is returned when its reload takes longer. */
export const SOFT_TIMEOUT_MS = 3_000;

/** The cache policy of each kind of value: how long it is fresh, how long it may be served when the sources fail, its share of the memory. */
export const CACHE_POLICY = {
  records: { freshMs: HOUR_MS, graceMs: GRACE_MS, memoryShare: 0.2 },
  names: { freshMs: HOUR_MS, graceMs: GRACE_MS, memoryShare: 0.05 },
  searches: { freshMs: 10 * MINUTE_MS, graceMs: DAY_MS, memoryShare: 0.1 },
  originals: { freshMs: DAY_MS, graceMs: GRACE_MS, memoryShare: 0.05 },
} as const;

/** The share of images and originals in the memory for cached values. */
export const IMAGE_MEMORY_SHARE = 0.6;
