import type { SearchHit } from '../../domain/channel.ts';
import { isChannelId } from '../../domain/identifier.ts';
import type { SearchOptions, SearchPage } from '../source.ts';
import { type ApiAnswer, invalid } from './answers.ts';
import { findContinuationToken } from './continuations.ts';
import { parseHandle } from './identities.ts';
import type { Innertube } from './innertube.ts';
import { firstAt, isJsonObject, type JsonObject, valuesAt, valuesNamed } from './json.ts';
import { isDefaultAvatar } from './pictures.ts';
import { type CountNoun, parseCount, textOf } from './texts.ts';

/** Twenty channels each: enough for the longest list that may be asked for. */
const MAX_PAGES = 3;

/** Where a first and a later page keep their sections. */
const SECTION_LISTS = [
  'contents.twoColumnSearchResultsRenderer.primaryContents.sectionListRenderer.contents',
  'onResponseReceivedCommands.*.appendContinuationItemsAction.continuationItems',
];

/**
 * One page of a search, in one call.
 *
 * @throws AppError `upstream_*` when upstream could not tell
 */
export async function searchChannels(
  innertube: Innertube,
  query: string,
  { from, signal }: SearchOptions,
): Promise<SearchPage> {
  const place = from === undefined ? undefined : parsePlace(from);
  const answer =
    place === undefined
      ? await innertube.search(query, signal)
      : await innertube.searchContinuation(place.token, signal);
  const sections = readSections(answer, { isFirstPage: place === undefined });
  const page = place?.page ?? 1;
  const token = findContinuationToken([...sections, ...valuesAt(sections, '*.itemSectionRenderer.contents.*')]);
  const next = token === undefined || page === MAX_PAGES ? {} : { next: formatPlace({ page: page + 1, token }) };
  return { hits: readHits(sections), ...next };
}

interface Place {
  /** Its number; the first page is 1. */
  readonly page: number;
  readonly token: string;
}

function formatPlace({ page, token }: Place): string {
  return `${page} ${token}`;
}

function parsePlace(text: string): Place {
  const end = text.indexOf(' ');
  return { page: Number(text.slice(0, end)), token: text.slice(end + 1) };
}

function readSections(answer: ApiAnswer, { isFirstPage }: { isFirstPage: boolean }): readonly unknown[] {
  if (answer.kind === 'refusal') {
    throw invalid('The video site did not understand the search.', new Error(answer.reason));
  }
  const { body } = answer;
  const lists = SECTION_LISTS.flatMap((path) => valuesAt(body, path)).filter((list) => Array.isArray(list));
  // Since 2026-04 the last page may have no list, for whole sessions also one before it.
  if (lists.length === 0 && isFirstPage && !saysNothingFound(body)) {
    throw invalid('The video site sent a search answer without a list.');
  }
  return lists.flat();
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

function readHits(sections: readonly unknown[]): SearchHit[] {
  const renderers = valuesAt(sections, '*.itemSectionRenderer.contents.*.channelRenderer');
  const hits = renderers.map(parseHit).filter((hit) => hit !== undefined);
  if (renderers.length > 0 && hits.length === 0) {
    throw invalid('The video site sent search results in an unknown form.');
  }
  return hits;
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
