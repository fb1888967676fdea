import { type Channel, type ChannelLink, isPublishedAt, type OriginalRef, type SearchHit } from '../domain/channel.ts';
import { FORMATS } from '../domain/formats.ts';
import { isChannelId } from '../domain/identifier.ts';
import { MAX_ORIGINAL_PIXELS } from '../images/encode-settings.ts';
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
} from '../lib/shape.ts';
import type { FoundChannels } from '../sources/search-all.ts';
import { channelKey } from '../store/keys.ts';
import type { ChannelEntry, ChannelRest } from './channels.ts';
import type { Original } from './originals.ts';

/*
 * What a stored value of each kind has to look like before it is used. A store can be damaged, and whoever can write to
 * Redis can write anything.
 */

const CHANNEL_ID: Check<string> = (value): value is string => typeof value === 'string' && isChannelId(value);
const NOT_EMPTY = text(/./s);
const COUNT = nullOr(text(/^\d{1,30}$/));
const OPTIONAL_TEXT = nullOr(text());
const LINK = fields<ChannelLink>({ title: text(), url: isWebUrl });

const ORIGINAL_REF: Check<OriginalRef> = either(
  fields<Extract<OriginalRef, { kind: 'remote' }>>({
    kind: oneOf(['remote']),
    key: NOT_EMPTY,
    urls: listOf(text(/^https:\/\//)),
  }),
  fields<Extract<OriginalRef, { kind: 'catalog-file' }>>({
    kind: oneOf(['catalog-file']),
    key: NOT_EMPTY,
    // No path: it is joined to the folder of the catalog's pictures.
    fileName: text(/^[0-9A-Za-z_-][0-9A-Za-z._-]{0,99}$/),
  }),
);

const CHANNEL_FIELDS: { readonly [Field in keyof Channel]: Check<Channel[Field]> } = {
  channelId: CHANNEL_ID,
  title: NOT_EMPTY,
  description: OPTIONAL_TEXT,
  customUrl: nullOr(text(/^@/)),
  publishedAt: nullOr(isPublishedAt),
  country: nullOr(text(/^[A-Z]{2}$/)),
  subscriberCount: COUNT,
  viewCount: COUNT,
  videoCount: COUNT,
  links: nullOr(listOf(LINK)),
  banner: nullOr(ORIGINAL_REF),
  avatar: nullOr(ORIGINAL_REF),
};
const CHANNEL = fields<Channel>(CHANNEL_FIELDS);

const CHANNEL_REST = fields<ChannelRest>({
  missing: listOf(oneOf(Object.keys(CHANNEL_FIELDS) as (keyof Channel)[])),
  place: NOT_EMPTY,
  loadedAtMs: numberIn(0, Number.MAX_SAFE_INTEGER),
});

const CHANNEL_ENTRY: Check<ChannelEntry> = either(
  fields<Extract<ChannelEntry, { channel: Channel }>>({
    channel: CHANNEL,
    isComplete: trueOrFalse,
    rest: optional(CHANNEL_REST),
  }),
  fields<{ movedTo: string }>({ movedTo: CHANNEL_ID }),
);

const PICTURE_PRESENCE = oneOf(['present', 'absent', 'unknown']);

const SEARCH_HIT = fields<SearchHit>({
  channelId: CHANNEL_ID,
  title: text(),
  description: OPTIONAL_TEXT,
  customUrl: OPTIONAL_TEXT,
  subscriberCount: COUNT,
  videoCount: COUNT,
  banner: PICTURE_PRESENCE,
  avatar: PICTURE_PRESENCE,
});

const FOUND_CHANNELS = fields<FoundChannels>({ hits: listOf(SEARCH_HIT), next: mapOf(text()) });

const ORIGINAL = fields<Original>({
  refKey: NOT_EMPTY,
  digest: text(/^[0-9a-f]{32}$/),
  firstStoredAtMs: numberIn(0, Number.MAX_SAFE_INTEGER),
  // A PNG may have all of its pixels in one row.
  width: numberIn(1, MAX_ORIGINAL_PIXELS),
  height: numberIn(1, MAX_ORIGINAL_PIXELS),
  format: oneOf([...FORMATS, 'gif']),
  hasAlpha: trueOrFalse,
  isWebReady: trueOrFalse,
});

/** By the cache that they are for. */
export const STORED_VALUES = {
  records: (value: unknown, key: string): value is ChannelEntry =>
    // A record of another channel under this key would be served in its place.
    CHANNEL_ENTRY(value) && (!('channel' in value) || channelKey(value.channel.channelId) === key),
  names: CHANNEL_ID,
  searches: FOUND_CHANNELS,
  originals: ORIGINAL,
} as const;

/** The channels that a value names: it goes with each of them. Of an original, the key says so. */
export const CHANNEL_IDS_OF = {
  records: (entry: ChannelEntry) => ['movedTo' in entry ? entry.movedTo : entry.channel.channelId],
  names: (channelId: string) => [channelId],
  searches: ({ hits }: FoundChannels) => hits.map(({ channelId }) => channelId),
  originals: () => [],
} as const;

function isWebUrl(value: unknown): value is string {
  return typeof value === 'string' && ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '');
}
