import type { SearchHit } from '../../domain/channel.ts';
import { isChannelId } from '../../domain/identifier.ts';
import type { JsonObject } from '../../lib/json.ts';
import { commonTextOf, firstAt, namesIn, valuesAt, valuesNamed, walk } from '../json.ts';
import { textWithin } from '../text-limits.ts';
import { avatarOfHit, parseHandle } from '../youtube-urls.ts';
import { type CountNoun, parseCount, partsOf, textOf } from './texts.ts';

/** The parts that may have the list. Items are found anywhere in them. */
const PARTS = ['contents', 'onResponseReceivedCommands'];

/** YouTube sends twenty results. */
const MAX_HITS = 100;

/** The content of a page of search results: plain data of bounded size. */
export function readSearchPage(body: JsonObject) {
  const parts = PARTS.filter((part) => Object.hasOwn(body, part)).map((part) => body[part]);
  const { lists, channels, texts, unknown } = findItems(parts);
  const hits = new Map<string, SearchHit>();
  for (const channel of channels) {
    const hit = parseRenderer(channel) ?? parseLockup(channel);
    if (hit !== undefined && hits.size < MAX_HITS && !hits.has(hit.channelId)) hits.set(hit.channelId, hit);
  }
  const saysNothingFound = texts.some((text) => NOTHING_FOUND.test(text));
  return {
    /** False if the page has no list, not even an empty one, and YouTube does not say that it has found nothing. */
    isResult: lists > 0 || saysNothingFound || body.estimatedResults === '0',
    /** True if there are items, and none of them can be read, and YouTube does not say that it has found nothing. */
    isUnreadable: hits.size === 0 && channels.length + unknown > 0 && !saysNothingFound,
    hits: [...hits.values()],
  };
}

/** "No results found", "No results for …", "… did not match any channels". */
const NOTHING_FOUND = /\bno results\b|\bdid not match any\b/i;
const END_OF_LIST = /\bno more results\b/i;
const MESSAGE_TEXTS = ['text', 'title', 'bodyText'];
const MESSAGE = /^(?:\w*message|backgroundPromo|emptyState)(?:Renderer|ViewModel)$/i;

/** Elements of a page's lists that are not results. */
const CONTAINERS = ['itemSectionRenderer', 'appendContinuationItemsAction'];
/** Results, remarks and tokens of next pages, which are no channels. What is inside them is not read. */
const OTHER_ITEM =
  /^(?:continuationItem|adSlot|promoted\w*|searchPyv|didYouMean|showingResultsFor|includingResultsFor|searchSubMenu|horizontalCardList|video|playlist|radio|movie|show|reelItem|shortsLockup)(?:Renderer|ViewModel)$|^adsControlFlow/;

/** Items in shelves may be channels. */
const SHELF = /[sS]helf/;

/** Finds the items of a search: channels in either form, what its messages say, and the number of unknown items. */
function findItems(parts: readonly unknown[]) {
  const found = { lists: 0, channels: [] as object[], texts: [] as string[], unknown: 0 };

  /** True for an item whose inner values are needed too. */
  function noteItem(value: object, name: string): boolean {
    if (name === 'channelRenderer' || (name === 'lockupViewModel' && isChannelLockup(value)))
      found.channels.push(value);
    if (MESSAGE.test(name)) noteMessage(value);
    return !isItem(name) && !OTHER_ITEM.test(name);
  }

  function noteMessage(message: object): void {
    const texts = MESSAGE_TEXTS.map((part) => textOf(firstAt(message, part)) ?? '');
    found.texts.push(...texts);
    if (!texts.some((text) => NOTHING_FOUND.test(text) || END_OF_LIST.test(text))) found.unknown += 1;
  }

  for (const part of parts) {
    walk(part, (value, name) => {
      if (Array.isArray(value)) found.lists += 1;
      else if (name === undefined && value !== part && !isKnownElement(value)) found.unknown += 1;
      return name === undefined || noteItem(value, name);
    });
  }
  return found;
}

function isKnownElement(element: object): boolean {
  const isPartOfText = typeof firstAt(element, 'text') === 'string';
  return isPartOfText || namesIn(element).some(isKnownName);
}

function isKnownName(name: string): boolean {
  return isItem(name) || OTHER_ITEM.test(name) || CONTAINERS.includes(name) || SHELF.test(name);
}

function isItem(name: string): boolean {
  return name === 'channelRenderer' || name === 'lockupViewModel' || MESSAGE.test(name);
}

/** True for channels, and for lockups that may be channels because they have no type or no ID. */
function isChannelLockup(lockup: object): boolean {
  const type = firstAt(lockup, 'contentType');
  const id = firstAt(lockup, 'contentId');
  const isOther = typeof type === 'string' && type !== 'LOCKUP_CONTENT_TYPE_CHANNEL';
  return !isOther || typeof id !== 'string' || isChannelId(id);
}

/** The form of results since 2012. */
function parseRenderer(renderer: object): SearchHit | undefined {
  return makeHit({
    channelId: firstAt(renderer, 'channelId'),
    title: firstAt(renderer, 'title'),
    description: firstAt(renderer, 'descriptionSnippet'),
    page: firstAt(renderer, 'navigationEndpoint.browseEndpoint.canonicalBaseUrl'),
    texts: COUNTS.map((name) => firstAt(renderer, name)),
    thumbnail: firstAt(renderer, 'thumbnail.thumbnails.*.url'),
  });
}

/**
 * The two count fields contain what YouTube shows in their place: since 2022-11 the handle is in `subscriberCountText` and
 * the subscribers are in `videoCountText`, where "- Topic" channels have their videos.
 */
const COUNTS = ['subscriberCountText', 'videoCountText'];

/** The form of results that some clients get since 2025. Handle and counts are texts in any order. */
function parseLockup(lockup: object): SearchHit | undefined {
  const metadata = firstAt(lockup, 'metadata');
  const parts = valuesNamed(metadata, 'metadataParts').flatMap((list) => valuesAt(list, '*.text'));
  const [sources] = valuesNamed(firstAt(lockup, 'contentImage'), 'sources');
  return makeHit({
    channelId: firstAt(lockup, 'contentId'),
    title:
      firstAt(metadata, 'lockupMetadataViewModel.title') ?? commonTextOf(valuesNamed(metadata, 'title').map(textOf)),
    description: undefined,
    page: firstAt(lockup, 'rendererContext.commandContext.onTap.innertubeCommand.browseEndpoint.canonicalBaseUrl'),
    texts: parts.slice(0, MAX_PARTS),
    thumbnail: firstAt(sources, '*.url'),
  });
}

/** YouTube sends three parts. */
const MAX_PARTS = 20;

/** The values of a result as they are in a response: `page` is the path of the channel's page, `texts` are handle and counts. */
type RawHit = Readonly<Record<'channelId' | 'title' | 'description' | 'page' | 'thumbnail', unknown>> & {
  readonly texts: readonly unknown[];
};

function makeHit({ channelId, title: shown, description, page, texts: raw, thumbnail }: RawHit): SearchHit | undefined {
  const title = textWithin(textOf(shown), 'title');
  if (typeof channelId !== 'string' || !isChannelId(channelId) || !title?.trim()) return undefined;
  const texts = raw.flatMap((text) => partsOf(textWithin(textOf(text), 'name') ?? ''));
  const handles = [textWithin(page, 'url') ?? '', ...texts].map(parseHandle);
  return {
    channelId,
    title,
    description: textWithin(textOf(description), 'description') ?? null,
    customUrl: handles.find((handle) => handle !== undefined) ?? null,
    subscriberCount: findCount(texts, 'subscriber') ?? null,
    videoCount: findCount(texts, 'video') ?? null,
    banner: 'unknown',
    avatar: avatarOfHit(textWithin(thumbnail, 'url')),
  };
}

function findCount(texts: readonly string[], noun: CountNoun): string | undefined {
  return texts.map((text) => parseCount(text, noun)).find((count) => count !== undefined);
}
