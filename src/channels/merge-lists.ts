import type { SearchHit } from '../domain/channel.ts';
import { AppError, clearestError, isUpstreamFailure, valueOrError } from '../domain/errors.ts';

interface SearchOutcome {
  readonly hits: readonly SearchHit[];
  /** The reason why a list is not there. It is absent if all lists are there. */
  readonly failure?: AppError;
}

/**
 * Joins lists that are found in parallel, in their order, no channel twice.
 *
 * @throws every error but failures of YouTube
 */
export async function mergeLists(lists: readonly Promise<readonly SearchHit[]>[]): Promise<SearchOutcome> {
  const results = await Promise.all(lists.map((list) => valueOrError(list)));
  const failures = results.filter((result) => result instanceof AppError);
  const unexpected = failures.find((failure) => !isUpstreamFailure(failure));
  if (unexpected !== undefined) throw unexpected;
  const failure = clearestError(failures);
  const byId = new Map<string, SearchHit>();
  for (const hit of results.flatMap((result) => (result instanceof AppError ? [] : result))) {
    if (!byId.has(hit.channelId)) byId.set(hit.channelId, hit);
  }
  return { hits: [...byId.values()], ...(failure && { failure }) };
}
