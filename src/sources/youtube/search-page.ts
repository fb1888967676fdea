import type { SearchHit } from '../../domain/channel.ts';
import { isChannelId } from '../../domain/identifier.ts';
import type { JsonObject } from '../../lib/json.ts';
import { textWithin } from '../foreign-texts.ts';
import { firstAt, valuesAt, valuesNamed, walk } from '../json.ts';
import { avatarOfHit, parseHandle } from '../youtube-urls.ts';
import { type CountNoun, parseCount, partsOf, textOf } from './texts.ts';

/** YouTube sends twenty results. */
const MAX_HITS = 100;

/**
 * The channels on a page of search results: plain data of bounded size. `undefined` if no channel can be read, although YouTube
 * neither sends an empty list nor says that it has found nothing: its results may have a new form.
 */
export function readSearchPage({ contents, estimatedResults }: JsonObject): SearchHit[] | undefined {
  const hits = new Map<string, SearchHit>();
  const messages: string[] = [];
  let lists = 0;
  let elements = 0;
  walk(contents, (value, name) => {
    if (Array.isArray(value)) lists += 1;
    else if (name === undefined && value !== contents && !Object.hasOwn(value, SECTION)) elements += 1;
    if (name !== undefined && MESSAGE.test(name)) messages.push(...textsOfMessage(value));
    const hit = parseItem(value, name);
    if (hit !== undefined && hits.size < MAX_HITS && !hits.has(hit.channelId)) hits.set(hit.channelId, hit);
    return true;
  });
  const isEmptyList = lists > 0 && elements === 0;
  const saysNothingFound = estimatedResults === '0' || messages.some((text) => NOTHING_FOUND.test(text));
  return hits.size > 0 || isEmptyList || saysNothingFound ? [...hits.values()] : undefined;
}

/** A part of the list, which has a list itself. */
const SECTION = 'itemSectionRenderer';

const MESSAGE = /^(?:\w*message|backgroundPromo|emptyState)(?:Renderer|ViewModel)$/i;
/** "No results found", "No results for …", "… did not match any channels". */
const NOTHING_FOUND = /\bno results\b|\bdid not match any\b/i;

function textsOfMessage(message: object): string[] {
  return ['text', 'title', 'bodyText'].map((part) => textOf(firstAt(message, part)) ?? '');
}

/** The channel in an item of either form. Playlists have the second one too, without the ID of a channel. */
function parseItem(item: object, name: string | undefined): SearchHit | undefined {
  if (name === 'channelRenderer') return parseRenderer(item);
  return name === 'lockupViewModel' ? parseLockup(item) : undefined;
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
    title: firstAt(metadata, 'lockupMetadataViewModel.title'),
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
