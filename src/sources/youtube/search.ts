import type { SearchOptions, SearchPage } from '../source.ts';
import { invalid } from './answers.ts';
import type { Innertube } from './innertube.ts';

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
  if (answer.kind === 'refusal') {
    throw invalid('The video site did not understand the search.', new Error(answer.reason));
  }
  const { hits, continuation, hasList, saysNothingFound, isUnreadable } = answer.value;
  // Since 2026-04 the last page may have no list, and for some sessions earlier pages too.
  if (!hasList && page === 1 && !saysNothingFound) {
    throw invalid('The video site sent a search answer without a list.');
  }
  if (isUnreadable) throw invalid('The video site sent search results in an unknown form.');
  const isLast = continuation === undefined || page === MAX_PAGES;
  return { hits, ...(isLast ? {} : { next: `${page + 1} ${continuation}` }) };
}

/** The number of a page, from 1, and the token that leads to it. */
function parsePlace(text: string): readonly [page: number, token: string] {
  const end = text.indexOf(' ');
  return [Number(text.slice(0, end)), text.slice(end + 1)];
}
