import type { SearchOptions, SearchPage } from '../source.ts';
import { type ApiAnswer, invalid } from './answers.ts';
import type { Innertube } from './innertube.ts';
import type { SearchPageReading } from './search-page.ts';

/** Pages have twenty channels, so this is enough for the longest list that clients can request. */
const MAX_PAGES = 3;

/**
 * Loads one page of a search in one call.
 *
 * @throws AppError `upstream_*` if upstream gave no usable answer
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
  const { hits, continuation } = requirePage(answer, { isFirstPage: place === undefined });
  const page = place?.page ?? 1;
  const isLast = continuation === undefined || page === MAX_PAGES;
  return { hits: [...hits], ...(isLast ? {} : { next: formatPlace({ page: page + 1, token: continuation }) }) };
}

interface Place {
  /** The number of the page, from 1. */
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

function requirePage(
  answer: ApiAnswer<SearchPageReading>,
  { isFirstPage }: { isFirstPage: boolean },
): SearchPageReading {
  if (answer.kind === 'refusal') {
    throw invalid('The video site did not understand the search.', new Error(answer.reason));
  }
  const page = answer.value;
  // Since 2026-04 the last page may have no list, and for some sessions earlier pages too.
  if (!page.hasList && isFirstPage && !page.saysNothingFound) {
    throw invalid('The video site sent a search answer without a list.');
  }
  if (page.isUnreadable) throw invalid('The video site sent search results in an unknown form.');
  return page;
}
