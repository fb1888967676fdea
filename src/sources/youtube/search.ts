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
  const [page, token] = from === undefined ? [1] : parsePlace(from);
  const answer =
    token === undefined ? await innertube.search(query, signal) : await innertube.searchContinuation(token, signal);
  const { hits, continuation } = requirePage(answer, { isFirstPage: page === 1 });
  const isLast = continuation === undefined || page === MAX_PAGES;
  return { hits, ...(isLast ? {} : { next: `${page + 1} ${continuation}` }) };
}

/** The number of a page, from 1, and the token that leads to it. */
function parsePlace(text: string): readonly [page: number, token: string] {
  const end = text.indexOf(' ');
  return [Number(text.slice(0, end)), text.slice(end + 1)];
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
