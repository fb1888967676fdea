import type { SearchHit } from '../../domain/channel.ts';
import { isChannelId } from '../../domain/identifier.ts';
import { type ApiAnswer, invalid } from './answers.ts';
import { parseHandle } from './identities.ts';
import type { Innertube } from './innertube.ts';
import { firstAt, isJsonObject, type JsonObject, valuesAt } from './json.ts';
import { isDefaultAvatar } from './pictures.ts';
import { type CountNoun, parseCount, textOf } from './texts.ts';

/** Twenty channels each: enough for the longest list that may be asked for. */
const MAX_PAGES = 3;

/** Where a first and a later page keep their sections. */
const SECTION_LISTS = [
  'contents.twoColumnSearchResultsRenderer.primaryContents.sectionListRenderer.contents',
  'onResponseReceivedCommands.*.appendContinuationItemsAction.continuationItems',
];

/** @throws AppError `upstream_*` when upstream could not tell; half a list is never given out as a whole one. */
export async function searchChannels(
  innertube: Innertube,
  query: string,
  limit: number,
  signal: AbortSignal,
): Promise<SearchHit[]> {
  const hits = new Map<string, SearchHit>();
  let answer = await innertube.search(query, signal);
  for (let page = 1; ; page += 1) {
    const { found, continuation } = parseSearchPage(answer);
    // Pages overlap: a channel of the first one may come again on the second (2026-07).
    for (const hit of found) if (!hits.has(hit.channelId)) hits.set(hit.channelId, hit);
    const isLast = continuation === undefined || page === MAX_PAGES;
    if (isLast || hits.size >= limit) return [...hits.values()].slice(0, limit);
    answer = await innertube.searchContinuation(continuation, signal);
  }
}

interface SearchPage {
  readonly found: readonly SearchHit[];
  readonly continuation?: string;
}

function parseSearchPage(answer: ApiAnswer): SearchPage {
  if (answer.kind === 'refusal') {
    throw invalid('The video site did not understand the search.', new Error(answer.reason));
  }
  const sections = readSections(answer.body);
  const renderers = valuesAt(sections, '*.itemSectionRenderer.contents.*.channelRenderer');
  const token = firstAt(sections, '*.continuationItemRenderer.continuationEndpoint.continuationCommand.token');
  return {
    found: renderers.map(parseHit).filter((hit) => hit !== undefined),
    ...(typeof token === 'string' ? { continuation: token } : {}),
  };
}

function readSections(body: JsonObject): readonly unknown[] {
  const lists = SECTION_LISTS.flatMap((path) => valuesAt(body, path)).filter((list) => Array.isArray(list));
  if (lists.length === 0) throw invalid('The video site sent a search answer without a list.');
  return lists.flat();
}

function parseHit(renderer: unknown): SearchHit | undefined {
  const channelId = firstAt(renderer, 'channelId');
  const title = textOf(firstAt(renderer, 'title'));
  if (typeof channelId !== 'string' || !isChannelId(channelId) || !title?.trim()) return undefined;
  const texts = countTexts(renderer);
  return {
    channelId,
    title,
    description: textOf(firstAt(renderer, 'descriptionSnippet')) ?? null,
    customUrl: findCustomUrl(renderer, texts) ?? null,
    subscriberCount: findCount(texts, 'subscriber') ?? null,
    videoCount: findCount(texts, 'video') ?? null,
    banner: 'unknown',
    avatar: findAvatar(renderer),
  };
}

/**
 * The two count fields hold whatever upstream shows in their place: since 2022-11 the handle stands in
 * `subscriberCountText` and the subscribers in `videoCountText`; "- Topic" channels have videos there.
 */
function countTexts(renderer: unknown): string[] {
  if (!isJsonObject(renderer)) return [];
  return [textOf(renderer.subscriberCountText), textOf(renderer.videoCountText)].filter((text) => text !== undefined);
}

function findCustomUrl(renderer: unknown, texts: readonly string[]): string | undefined {
  const path = firstAt(renderer, 'navigationEndpoint.browseEndpoint.canonicalBaseUrl');
  const candidates = typeof path === 'string' ? [path, ...texts] : texts;
  return candidates.map(parseHandle).find((handle) => handle !== undefined);
}

function findCount(texts: readonly string[], noun: CountNoun): string | undefined {
  return texts.map((text) => parseCount(text, noun)).find((count) => count !== undefined);
}

function findAvatar(renderer: unknown): SearchHit['avatar'] {
  const url = firstAt(renderer, 'thumbnail.thumbnails.*.url');
  if (typeof url !== 'string') return 'unknown';
  return isDefaultAvatar(url) ? 'absent' : 'present';
}
