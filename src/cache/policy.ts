import {
  type Channel,
  type ChannelLink,
  type FeedValues,
  isPublishedAt,
  type KnownChannel,
  plainTitle,
  type RemoteImage,
  type SearchHit,
} from '../domain/channel.ts';
import { FORMATS, MAX_ORIGINAL_SIDE_PX, type SourceFormat } from '../domain/formats.ts';
import { isChannelId } from '../domain/identifier.ts';
import type { Size } from '../domain/variants.ts';
import {
  type Check,
  either,
  fields,
  listOf,
  mapOf,
  nullOr,
  numberIn,
  oneOf,
  optional,
  text,
  trueOrFalse,
} from '../lib/schema.ts';
import type { Cache } from './cache.ts';
import { channelKey } from './keys.ts';

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

/** The channels that a source found, best first. */
export interface StoredSearch {
  readonly hits: readonly SearchHit[];
}

/** The caches of what is fetched. */
export interface Caches {
  readonly records: Cache<ChannelEntry>;
  readonly names: Cache<string>;
  readonly searches: Cache<StoredSearch>;
  readonly originals: Cache<Original>;
}

const CHANNEL_ID: Check<string> = (value): value is string => typeof value === 'string' && isChannelId(value);
const NOT_EMPTY = text(/./s);
const TITLE: Check<string> = (value): value is string => NOT_EMPTY(value) && plainTitle(value) === value;
const COUNT = nullOr(text(/^\d{1,30}$/));
const OPTIONAL_TEXT = nullOr(text());
const LINK = fields<ChannelLink>({ title: TITLE, url: isWebUrl });

/** Images of the catalog are never stored. */
const REMOTE_IMAGE = fields<RemoteImage>({
  kind: oneOf(['remote']),
  key: NOT_EMPTY,
  urls: listOf(text(/^https:\/\//)),
});

const CHANNEL_FIELDS: { readonly [Field in keyof Channel]: Check<Channel[Field]> } = {
  channelId: CHANNEL_ID,
  title: TITLE,
  description: OPTIONAL_TEXT,
  customUrl: nullOr(text(/^@/)),
  publishedAt: nullOr(isPublishedAt),
  country: nullOr(text(/^[A-Z]{2}$/)),
  subscriberCount: COUNT,
  viewCount: COUNT,
  videoCount: COUNT,
  links: nullOr(listOf(LINK)),
  banner: nullOr(REMOTE_IMAGE),
  avatar: nullOr(REMOTE_IMAGE),
};

const TITLE_AND_TIME = { title: NOT_EMPTY, publishedAt: CHANNEL_FIELDS.publishedAt };
const FEED_VALUES = fields<FeedValues>({ ...TITLE_AND_TIME, page: fields<FeedValues['page']>(TITLE_AND_TIME) });

const TIME = numberIn(0, Number.MAX_SAFE_INTEGER);

const CHANNEL_ENTRY: Check<ChannelEntry> = either(
  fields<StoredRecord>({
    channel: fields<Channel>(CHANNEL_FIELDS),
    feed: optional(FEED_VALUES),
    loadedAtMs: TIME,
    lastSeenAtMs: mapOf(TIME),
  }),
  fields<{ movedTo: string }>({ movedTo: CHANNEL_ID }),
);

const IMAGE_PRESENCE = oneOf(['present', 'absent', 'unknown']);

const SEARCH_HIT = fields<SearchHit>({
  channelId: CHANNEL_ID,
  title: TITLE,
  description: OPTIONAL_TEXT,
  customUrl: OPTIONAL_TEXT,
  subscriberCount: COUNT,
  videoCount: COUNT,
  banner: IMAGE_PRESENCE,
  avatar: IMAGE_PRESENCE,
});

const SEARCH = fields<StoredSearch>({ hits: listOf(SEARCH_HIT) });

const INFO_FIELDS = {
  width: numberIn(1, MAX_ORIGINAL_SIDE_PX),
  height: numberIn(1, MAX_ORIGINAL_SIDE_PX),
  format: oneOf([...FORMATS, 'gif']),
  hasAlpha: trueOrFalse,
};

const ORIGINAL = fields<Original>({
  ...INFO_FIELDS,
  refKey: NOT_EMPTY,
  digest: text(/^[0-9a-f]{32}$/),
  firstStoredAtMs: numberIn(0, Number.MAX_SAFE_INTEGER),
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const GRACE_MS = 7 * DAY_MS;
/** A stale value is returned when its reload takes longer. */
export const SOFT_TIMEOUT_MS = 3_000;

/**
 * The cache policy of each kind of value: how long it is fresh; how long it may be served when the sources fail; its
 * share of the memory; the check of a stored value.
 *
 * Stored values are checked because a store can be damaged, and other programs can write to Redis.
 */
export const CACHE_POLICY = {
  records: {
    ...{ freshMs: HOUR_MS, graceMs: GRACE_MS, memoryShare: 0.2 },
    isValue: (value: unknown, key: string): value is ChannelEntry =>
      // Another channel's record must not be served under this key.
      CHANNEL_ENTRY(value) && (!('channel' in value) || channelKey(value.channel.channelId) === key),
  },
  names: {
    ...{ freshMs: HOUR_MS, graceMs: GRACE_MS, memoryShare: 0.05 },
    isValue: CHANNEL_ID,
  },
  searches: {
    ...{ freshMs: 10 * MINUTE_MS, graceMs: DAY_MS, memoryShare: 0.1 },
    isValue: SEARCH,
  },
  originals: {
    ...{ freshMs: DAY_MS, graceMs: GRACE_MS, memoryShare: 0.05 },
    isValue: ORIGINAL,
  },
} as const;

/** The share of images and originals in the memory for cached values. */
export const IMAGE_MEMORY_SHARE = 0.6;

function isWebUrl(value: unknown): value is string {
  return typeof value === 'string' && ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '');
}
