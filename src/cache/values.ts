import type { Channel, ChannelLink, FeedValues, KnownChannel, RemoteImage, SearchHit } from '../domain/channel.ts';
import { isChannelId } from '../domain/identifier.ts';
import type { Size } from '../domain/variants.ts';
import { isJsonObject } from '../lib/json.ts';
import type { Cache } from './cache.ts';

/** The cached value of a channel ID: the record, or the ID that YouTube redirects to. */
export type RecordOrRedirect = StoredRecord | Redirect;

interface Redirect {
  readonly movedTo: string;
}

export interface StoredRecord extends KnownChannel {
  /** Milliseconds since 1970. */
  readonly loadedAtMs: number;
  /** When YouTube last sent the fields that it did not send this time, milliseconds since 1970. */
  readonly lastSeenAtMs: Partial<Readonly<Record<keyof Channel, number>>>;
}

/** The metadata of an original. Its version is the key of the `OriginalRef` that it was loaded from. */
export interface OriginalInfo extends Size {
  readonly hasTransparency: boolean;
  /** The first 32 hex digits of the SHA-256 of its bytes. */
  readonly digest: string;
  /** When these bytes were first stored, milliseconds since 1970. */
  readonly firstStoredAtMs: number;
}

/** The caches of what is fetched. `null`: there is no such channel. */
export interface Caches {
  readonly records: Cache<RecordOrRedirect | null>;
  /** The channel IDs of handles and user names. */
  readonly names: Cache<string | null>;
  /** The channels that a source found, best first. */
  readonly searches: Cache<readonly SearchHit[]>;
  readonly originals: Cache<OriginalInfo>;
}

/** "No such channel", which is fresh for 60 s. */
export const ABSENCE = { value: null, freshMs: 60_000 } as const;

// The forms of values in Redis: another program may write to it, and no value of another form may be used.

type Check = (value: unknown) => boolean;

const isId: Check = (value) => typeof value === 'string' && isChannelId(value);
const isText: Check = (value) => typeof value === 'string';
const isCount: Check = (value) => typeof value === 'string' && /^\d{1,30}$/.test(value);
const isNumber: Check = Number.isFinite;

const orNull =
  (is: Check): Check =>
  (value) =>
    value === null || is(value);
const listOf =
  (is: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(is);

/** An object that has these fields, and maybe others. */
function form<T>(fields: Readonly<Record<keyof T & string, Check>>): Check {
  const checks = Object.entries<Check>(fields);
  return (value) => isJsonObject(value) && checks.every(([name, is]) => is(value[name]));
}

const isRemoteImage = form<RemoteImage>({ kind: (kind) => kind === 'remote', key: isText, urls: listOf(isText) });

const IN_RECORDS_AND_LISTS = {
  channelId: isId,
  title: isText,
  description: orNull(isText),
  customUrl: orNull(isText),
  subscriberCount: orNull(isCount),
  videoCount: orNull(isCount),
};

const isChannel = form<Channel>({
  ...IN_RECORDS_AND_LISTS,
  publishedAt: orNull(isText),
  country: orNull(isText),
  viewCount: orNull(isCount),
  links: orNull(listOf(form<ChannelLink>({ title: isText, url: isText }))),
  banner: orNull(isRemoteImage),
  avatar: orNull(isRemoteImage),
});

const isTitleAndDate = form<FeedValues['page']>({ title: isText, publishedAt: orNull(isText) });
const isFeed = form<FeedValues>({ title: isText, publishedAt: orNull(isText), page: isTitleAndDate });

const isRecord = form<StoredRecord>({
  channel: isChannel,
  feed: (feed) => feed === undefined || isFeed(feed),
  loadedAtMs: isNumber,
  lastSeenAtMs: (times) => isJsonObject(times) && Object.values(times).every(isNumber),
});
const isRedirect = form<Redirect>({ movedTo: isId });

const isHit = form<SearchHit>({ ...IN_RECORDS_AND_LISTS, banner: isText, avatar: isText });

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const GRACE_MS = 7 * DAY_MS;

/** The cache policy of each kind of value: how long it is fresh, how long it may be served when the sources fail, its share of the memory. */
export const CACHE_POLICY = {
  records: {
    freshMs: HOUR_MS,
    graceMs: GRACE_MS,
    isValue: orNull((value) => isRedirect(value) || isRecord(value)),
    memoryShare: 0.2,
  },
  names: { freshMs: HOUR_MS, graceMs: GRACE_MS, isValue: orNull(isId), memoryShare: 0.05 },
  searches: { freshMs: 10 * MINUTE_MS, graceMs: DAY_MS, isValue: listOf(isHit), memoryShare: 0.1 },
  originals: { freshMs: DAY_MS, graceMs: GRACE_MS, memoryShare: 0.05 },
} as const;

/** The share of images and originals in the memory for cached values. */
export const IMAGE_MEMORY_SHARE = 0.6;
