import type { Channel, SearchHit } from '../../domain/channel.ts';
import { AppError } from '../../domain/errors.ts';
import { isChannelId } from '../../domain/identifier.ts';
import { parseHandle } from '../youtube/identities.ts';
import { firstAt, type JsonObject, valuesAt } from '../youtube/json.ts';
import { avatarOriginal, bannerOriginal, isDefaultAvatar, parsePictureBase } from '../youtube/pictures.ts';
import { invalidAnswer } from './errors.ts';

const CHANNEL_LIST = 'youtube#channelListResponse';
const SEARCH_LIST = 'youtube#searchListResponse';

/**
 * The channel in a channels.list answer: the one with that ID, the first one where it was asked for by name. What is no
 * channel is passed over.
 *
 * @throws AppError `channel_not_found` when the list is empty or absent (the API does both), `upstream_invalid` when it
 *   is no such list, holds something else only, or its channel has no ID or title
 */
export function parseChannelList(body: JsonObject, channelId?: string): Channel {
  if (body.kind !== CHANNEL_LIST) throw invalidAnswer('not a list of channels');
  const items = valuesAt(body, 'items.*');
  if (items.length === 0) throw new AppError('channel_not_found', 'There is no such channel.');
  return parseChannel(findItem(items, channelId));
}

/** Where a channels.list item has the parts of a record, the best first; no part of the API has the links. */
export const CHANNEL_PATHS = {
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

/** The one of a channels.list answer's items that was asked for. */
export function findItem(items: readonly unknown[], channelId: string | undefined): unknown {
  return items.find((each) => {
    const id = textAt(each, 'id') ?? '';
    return channelId === undefined ? isChannelId(id) : id === channelId;
  });
}

/**
 * The hits of a search.list answer, in its order; what is no channel is left out.
 *
 * @throws AppError `upstream_invalid` when it is no such list, or none of its channels can be read
 */
export function parseSearchList(body: JsonObject): SearchHit[] {
  if (body.kind !== SEARCH_LIST) throw invalidAnswer('not a list of search results');
  const items = valuesAt(body, 'items.*').filter((item) => textAt(item, 'id.channelId') !== undefined);
  const hits = items.map(parseHit).filter((hit) => hit !== undefined);
  if (items.length > 0 && hits.length === 0) throw invalidAnswer('search results without an ID or a title');
  return [...new Map(hits.map((hit) => [hit.channelId, hit])).values()];
}

function parseChannel(item: unknown): Channel {
  const text = (field: keyof Channel) => textAtFirst(item, CHANNEL_PATHS[field]);
  const channelId = text('channelId') ?? '';
  const title = text('title') ?? '';
  if (!isChannelId(channelId) || title.trim() === '') throw invalidAnswer('a channel without an ID or a title');
  const isHidden = firstAt(item, HIDDEN_SUBSCRIBERS) === true;
  const banner = parsePictureBase(text('banner'));
  const avatar = parsePictureBase(text('avatar'));
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
    banner: banner === undefined ? null : bannerOriginal(banner),
    avatar: avatar === undefined ? null : avatarOriginal(avatar),
  };
}

function parseHit(item: unknown): SearchHit | undefined {
  const channelId = textAt(item, 'id.channelId') ?? '';
  const title = unescapeHtml(textAt(item, 'snippet.title') ?? '');
  if (!isChannelId(channelId) || title.trim() === '') return undefined;
  const description = textAt(item, 'snippet.description');
  const thumbnail = textAtFirst(item, CHANNEL_PATHS.avatar);
  return {
    channelId,
    title,
    description: description === undefined ? null : unescapeHtml(description),
    customUrl: null,
    subscriberCount: null,
    videoCount: null,
    banner: 'unknown',
    avatar: thumbnail === undefined ? 'unknown' : isDefaultAvatar(thumbnail) ? 'absent' : 'present',
  };
}

export const HIDDEN_SUBSCRIBERS = 'statistics.hiddenSubscriberCount';
const DECIMAL = /^(0|[1-9]\d*)$/;
const COUNTRY = /^[A-Z]{2}$/;

function textAt(item: unknown, path: string): string | undefined {
  const value = firstAt(item, path);
  return typeof value === 'string' ? value : undefined;
}

function textAtFirst(item: unknown, paths: readonly string[]): string | undefined {
  return paths.map((path) => textAt(item, path)).find((text) => text !== undefined);
}

function match(text: string | undefined, form: RegExp): string | null {
  return text !== undefined && form.test(text) ? text : null;
}

/** With milliseconds in 2019, without in 2022, with microseconds elsewhere. */
function toSeconds(timestamp: string): string | null {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(timestamp);
  return match === null ? null : `${match[1]}Z`;
}

/** search.list escapes its texts for HTML, channels.list does not. */
function unescapeHtml(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};
