import type { SearchHit } from '../../domain/channel.ts';
import { isChannelId } from '../../domain/identifier.ts';
import { firstAt, type JsonObject, valuesAt, valuesNamed } from './json.ts';
import { findContinuationToken } from './layouts.ts';
import { type CountNoun, parseCount, textOf, textWithin } from './texts.ts';
import { avatarOfHit, parseHandle } from './urls.ts';

/** The sections of the first page and of later pages. */
const SECTION_LISTS = [
  'contents.twoColumnSearchResultsRenderer.primaryContents.sectionListRenderer.contents',
  'onResponseReceivedCommands.*.appendContinuationItemsAction.continuationItems',
];

/** Upstream sends twenty. */
const MAX_HITS = 100;

/** The content of a page of search results: plain data of bounded size. */
export function readSearchPage(body: JsonObject) {
  const lists = SECTION_LISTS.flatMap((path) => valuesAt(body, path)).filter((list) => Array.isArray(list));
  const sections = lists.flat();
  const renderers = valuesAt(sections, '*.itemSectionRenderer.contents.*.channelRenderer').slice(0, MAX_HITS);
  const hits = renderers.map(parseHit).filter((hit) => hit !== undefined);
  const token = findContinuationToken([...sections, ...valuesAt(sections, '*.itemSectionRenderer.contents.*')]);
  return {
    /** False if the page has no list, not even an empty one. */
    hasList: lists.length > 0,
    saysNothingFound: lists.length === 0 && saysNothingFound(body),
    /** True if there are results and none of them can be read. */
    isUnreadable: renderers.length > 0 && hits.length === 0,
    hits,
    /** The token that leads to the next page. */
    continuation: textWithin(token, 'token'),
  };
}

/** "No results found", "No results for …", "… did not match any channels". */
const NOTHING_FOUND = /\bno (?:more )?results\b|\bdid not match any\b/i;
const MESSAGE_RENDERERS = ['messageRenderer', 'backgroundPromoRenderer'];
const MESSAGE_TEXTS = ['text', 'title', 'bodyText'];

function saysNothingFound(body: JsonObject): boolean {
  if (String(body.estimatedResults) === '0') return true;
  return MESSAGE_RENDERERS.flatMap((name) => valuesNamed(body, name)).some((message) =>
    MESSAGE_TEXTS.some((part) => NOTHING_FOUND.test(textOf(firstAt(message, part)) ?? '')),
  );
}

function parseHit(renderer: unknown): SearchHit | undefined {
  const channelId = firstAt(renderer, 'channelId');
  const title = textWithin(textOf(firstAt(renderer, 'title')), 'title');
  if (typeof channelId !== 'string' || !isChannelId(channelId) || !title?.trim()) return undefined;
  const texts = countTexts(renderer);
  const thumbnail = textWithin(firstAt(renderer, 'thumbnail.thumbnails.*.url'), 'url');
  return {
    channelId,
    title,
    description: textWithin(textOf(firstAt(renderer, 'descriptionSnippet')), 'description') ?? null,
    customUrl: findCustomUrl(renderer, texts) ?? null,
    subscriberCount: findCount(texts, 'subscriber') ?? null,
    videoCount: findCount(texts, 'video') ?? null,
    banner: 'unknown',
    // The same picture has this host on the channel page (2026-07), so that its version is the same.
    ...avatarOfHit(thumbnail?.replace('//yt3.ggpht.com/', '//yt3.googleusercontent.com/')),
  };
}

/**
 * The two count fields contain what upstream shows in their place: since 2022-11 the handle is in `subscriberCountText` and
 * the subscribers are in `videoCountText`, where "- Topic" channels have their videos.
 */
function countTexts(renderer: unknown): string[] {
  return ['subscriberCountText', 'videoCountText']
    .map((name) => textWithin(textOf(firstAt(renderer, name)), 'name'))
    .filter((text) => text !== undefined);
}

function findCustomUrl(renderer: unknown, texts: readonly string[]): string | undefined {
  const path = firstAt(renderer, 'navigationEndpoint.browseEndpoint.canonicalBaseUrl');
  const candidates = [textWithin(path, 'url') ?? '', ...texts];
  return candidates.map(parseHandle).find((handle) => handle !== undefined);
}

function findCount(texts: readonly string[], noun: CountNoun): string | undefined {
  return texts.map((text) => parseCount(text, noun)).find((count) => count !== undefined);
}
