import { type Channel, isPublishedAt, type SearchHit } from '../../domain/channel.ts';
import { isChannelId } from '../../domain/identifier.ts';
import { firstAt, isJsonObject, type JsonObject, parseJsonObject, valuesAt } from '../json.ts';
import { decodeReferences } from '../references.ts';
import { textWithin } from '../text-limits.ts';
import { avatarOfHit, parseHandle, parseImage } from '../youtube-urls.ts';

/** Lists of the API have 50 items at most. */
const MAX_ITEMS = 50;

/* `null` means that the response is no JSON object, and a `list` of `null` that it is no list of this kind. */

/** The channels of a channels.list response. */
export const channels = (body: Uint8Array) => readList(body, 'youtube#channelListResponse', () => true, parseItem);

/** The hits of a search.list response, in its order. Items that are no channel are omitted. */
export const search = (body: Uint8Array) =>
  readList(body, 'youtube#searchListResponse', (item) => textAt(item, 'id.channelId') !== undefined, parseHit);

function readList<T extends { readonly channelId: string }>(
  body: Uint8Array,
  kind: string,
  isListed: (item: unknown) => boolean,
  parse: (item: unknown) => T | undefined,
) {
  const object = parseJsonObject(body);
  if (object === undefined) return null;
  const items = valuesAt(object, 'items.*').filter(isListed);
  const found = items
    .slice(0, MAX_ITEMS)
    .map(parse)
    .filter((item) => item !== undefined);
  const list = {
    /** The number of items, including unreadable ones. */
    items: items.length,
    found: [...new Map(found.map((item) => [item.channelId, item])).values()],
  };
  return { error: readApiError(object), list: object.kind === kind ? list : null };
}

const MAX_REASONS = 10;
const MAX_REASON_CHARACTERS = 50;

/** The reason in a response without a list. */
function readApiError(body: JsonObject) {
  const reasons = valuesAt(body, 'error.errors.*.reason').filter((reason) => typeof reason === 'string');
  const texts = [...valuesAt(body, 'error.details.*.reason'), firstAt(body, 'error.message')];
  return {
    reasons: reasons.slice(0, MAX_REASONS).map((reason) => reason.slice(0, MAX_REASON_CHARACTERS)),
    /** Since 2020 an invalid key is a plain `badRequest`. Only its message or details distinguish it from an invalid channel. */
    isAboutKey: texts.some((text) => typeof text === 'string' && /api[ _]key/i.test(text)),
    /** "Quota exceeded for quota metric 'Search Queries' and limit 'Search Queries per day' …" (2026-06 to 2026-09). */
    isAboutDay: texts.some((text) => typeof text === 'string' && /\bper day\b/i.test(text)),
  };
}

/** The paths of a record's fields in a channels.list item, best first. No part of the API has the links. */
const CHANNEL_PATHS = {
  channelId: ['id'],
  title: ['snippet.title'],
  description: ['snippet.description'],
  customUrl: ['snippet.customUrl'],
  publishedAt: ['snippet.publishedAt'],
  country: ['snippet.country'],
  subscriberCount: ['statistics.subscriberCount'],
  viewCount: ['statistics.viewCount'],
  videoCount: ['statistics.videoCount'],
  links: [],
  banner: ['brandingSettings.image.bannerExternalUrl'],
  avatar: ['snippet.thumbnails.high.url', 'snippet.thumbnails.medium.url', 'snippet.thumbnails.default.url'],
} as const satisfies Record<keyof Channel, readonly string[]>;

const CHANNEL_FIELDS = Object.keys(CHANNEL_PATHS) as (keyof Channel)[];

function parseItem(item: unknown) {
  const channel = parseChannel(item);
  return channel && { channelId: channel.channelId, channel, missing: CHANNEL_FIELDS.filter(isLost) };

  /** Every part that was requested is there, even if it is empty. */
  function isLost(field: keyof Channel): boolean {
    const [part = '', ...rest] = CHANNEL_PATHS[field][0]?.split('.') ?? [];
    return rest.length > 0 && !isJsonObject(firstAt(item, part));
  }
}

function parseChannel(item: unknown): Channel | undefined {
  const text = (field: keyof Channel) => textAtFirst(item, CHANNEL_PATHS[field]);
  const channelId = text('channelId') ?? '';
  const title = text('title') ?? '';
  if (!isChannelId(channelId) || title.trim() === '') return undefined;
  const isHidden = firstAt(item, HIDDEN_SUBSCRIBERS) === true;
  return {
    channelId,
    title,
    description: text('description') ?? null,
    customUrl: parseHandle(text('customUrl') ?? '') ?? null,
    publishedAt: toSeconds(text('publishedAt') ?? ''),
    country: match(text('country'), COUNTRY),
    subscriberCount: isHidden ? null : match(text('subscriberCount'), DECIMAL),
    viewCount: match(text('viewCount'), DECIMAL),
    videoCount: match(text('videoCount'), DECIMAL),
    links: null,
    banner: parseImage(text('banner'), 'banner') ?? null,
    avatar: parseImage(text('avatar'), 'avatar') ?? null,
  };
}

function parseHit(item: unknown): SearchHit | undefined {
  const channelId = textAt(item, 'id.channelId') ?? '';
  // search.list escapes its texts, channels.list does not.
  const title = decodeReferences(textAt(item, 'snippet.title') ?? '');
  if (!isChannelId(channelId) || title.trim() === '') return undefined;
  const description = textAt(item, 'snippet.description');
  const thumbnail = textAtFirst(item, CHANNEL_PATHS.avatar);
  return {
    channelId,
    title,
    description: description === undefined ? null : decodeReferences(description),
    customUrl: null,
    subscriberCount: null,
    videoCount: null,
    banner: 'unknown',
    avatar: avatarOfHit(thumbnail),
  };
}

const HIDDEN_SUBSCRIBERS = 'statistics.hiddenSubscriberCount';
const DECIMAL = /^(?:0|[1-9]\d{0,18})$/;
const COUNTRY = /^[A-Z]{2}$/;

function textAt(item: unknown, path: string): string | undefined {
  return textWithin(firstAt(item, path), 'description');
}

function textAtFirst(item: unknown, paths: readonly string[]): string | undefined {
  return paths.map((path) => textAt(item, path)).find((text) => text !== undefined);
}

function match(text: string | undefined, form: RegExp): string | null {
  return text !== undefined && form.test(text) ? text : null;
}

/** With milliseconds in 2019, without in 2022, with microseconds elsewhere. An impossible time is ignored. */
function toSeconds(timestamp: string): string | null {
  const seconds = timestamp.replace(/\.\d{1,9}Z$/, 'Z');
  return isPublishedAt(seconds) ? seconds : null;
}
