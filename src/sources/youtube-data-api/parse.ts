import { type Channel, isPublishedAt, type SearchHit } from '../../domain/channel.ts';
import { isChannelId } from '../../domain/identifier.ts';
import { type JsonObject, parseJsonObject } from '../../lib/json.ts';
import { decodeReferences, textWithin } from '../foreign-texts.ts';
import { firstAt, valuesAt } from '../json.ts';
import { avatarOfHit, parseHandle, parseImage } from '../youtube-urls.ts';

/* `null` means that the response is no JSON object, and a `list` of `null` that it is no list of this kind. */

/** The channels of a channels.list response. */
export const channels = (body: Uint8Array) => readList(body, 'youtube#channelListResponse', () => true, parseChannel);

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
  const found = items.map(parse).filter((item) => item !== undefined);
  const list = {
    /** The number of items, including unreadable ones. */
    items: items.length,
    found: [...new Map(found.map((item) => [item.channelId, item])).values()],
  };
  return { error: readApiError(object), list: object.kind === kind ? list : null };
}

/** The reason in a response without a list. */
function readApiError(body: JsonObject) {
  const texts = [...valuesAt(body, 'error.details.*.reason'), firstAt(body, 'error.message')];
  return {
    reasons: valuesAt(body, 'error.errors.*.reason').filter((reason) => typeof reason === 'string'),
    /** Since 2020 an invalid key is a plain `badRequest`. Only its message or details distinguish it from an invalid channel. */
    isAboutKey: texts.some((text) => typeof text === 'string' && /api[ _]key/i.test(text)),
    /** "Quota exceeded for quota metric 'Search Queries' and limit 'Search Queries per day' …" (2026-06 to 2026-09). */
    isAboutDay: texts.some((text) => typeof text === 'string' && /\bper day\b/i.test(text)),
  };
}

/** No part of the API has the links. */
function parseChannel(item: unknown): Channel | undefined {
  const channelId = textAt(item, 'id') ?? '';
  const title = textAt(item, 'snippet.title') ?? '';
  if (!isChannelId(channelId) || title.trim() === '') return undefined;
  const isHidden = firstAt(item, 'statistics.hiddenSubscriberCount') === true;
  return {
    channelId,
    title,
    description: textAt(item, 'snippet.description') ?? null,
    customUrl: parseHandle(textAt(item, 'snippet.customUrl') ?? '') ?? null,
    publishedAt: toSeconds(textAt(item, 'snippet.publishedAt') ?? ''),
    country: match(textAt(item, 'snippet.country'), COUNTRY),
    subscriberCount: isHidden ? null : match(textAt(item, 'statistics.subscriberCount'), DECIMAL),
    viewCount: match(textAt(item, 'statistics.viewCount'), DECIMAL),
    videoCount: match(textAt(item, 'statistics.videoCount'), DECIMAL),
    links: null,
    banner: parseImage(textAt(item, 'brandingSettings.image.bannerExternalUrl'), 'banner') ?? null,
    avatar: parseImage(thumbnailOf(item), 'avatar') ?? null,
  };
}

function parseHit(item: unknown): SearchHit | undefined {
  const channelId = textAt(item, 'id.channelId') ?? '';
  // search.list escapes its texts, channels.list does not.
  const title = decodeReferences(textAt(item, 'snippet.title') ?? '');
  if (!isChannelId(channelId) || title.trim() === '') return undefined;
  const description = textAt(item, 'snippet.description');
  return {
    channelId,
    title,
    description: description === undefined ? null : decodeReferences(description),
    customUrl: null,
    subscriberCount: null,
    videoCount: null,
    banner: 'unknown',
    avatar: avatarOfHit(thumbnailOf(item)),
  };
}

const DECIMAL = /^(?:0|[1-9]\d{0,18})$/;
const COUNTRY = /^[A-Z]{2}$/;

function textAt(item: unknown, path: string): string | undefined {
  return textWithin(firstAt(item, path), 'description');
}

/** The largest thumbnail. */
function thumbnailOf(item: unknown): string | undefined {
  const texts = ['high', 'medium', 'default'].map((size) => textAt(item, `snippet.thumbnails.${size}.url`));
  return texts.find((text) => text !== undefined);
}

function match(text: string | undefined, form: RegExp): string | null {
  return text !== undefined && form.test(text) ? text : null;
}

/** Times had milliseconds in 2019, none in 2022, and microseconds elsewhere. An impossible time is ignored. */
function toSeconds(timestamp: string): string | null {
  const seconds = timestamp.replace(/\.\d{1,9}Z$/, 'Z');
  return isPublishedAt(seconds) ? seconds : null;
}
