import type { SearchHit } from '../domain/channel.ts';
import { AppError, clearestError, isUpstreamFailure } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/deadlines.ts';

/** A search waits for slow lists after another list has something. */
export const SLOW_SOURCE_MS = 3_000;

interface SearchOutcome {
  readonly hits: readonly SearchHit[];
  /** Why a list is not there, or not in time; absent if all lists are there. */
  readonly failure?: AppError;
}

/**
 * Joins lists that are found in parallel, in their order, no channel twice. Once a list has something, the others have until
 * `SLOW_SOURCE_MS` after the start. If none has anything, all of them are awaited. A late list is loaded on, so that it is stored.
 *
 * @throws every error but failures of upstream
 */
export async function mergeLists(
  lists: readonly Promise<readonly SearchHit[]>[],
  clock: Clock,
): Promise<SearchOutcome> {
  const results: (SearchOutcome | undefined)[] = lists.map(() => undefined);
  const firstHit = Promise.withResolvers<void>();

  const everyone = Promise.all(
    lists.map(async (list, index) => {
      const hits = await list.catch((failure: unknown) => {
        if (isUpstreamFailure(failure)) return failure;
        throw failure;
      });
      results[index] = hits instanceof AppError ? { hits: [], failure: hits } : { hits };
      if (results[index].hits.length > 0) firstHit.resolve();
    }),
  );
  await withinMs(clock, everyone, SLOW_SOURCE_MS);
  await Promise.race([everyone, firstHit.promise]);

  const tooLate = results.includes(undefined)
    ? new AppError('upstream_timeout', 'A source of channels did not respond in time.')
    : undefined;
  const failure = clearestError(results.flatMap((result) => result?.failure ?? [])) ?? tooLate;
  const byId = new Map<string, SearchHit>();
  for (const hit of results.flatMap((result) => result?.hits ?? [])) {
    if (!byId.has(hit.channelId)) byId.set(hit.channelId, hit);
  }
  return { hits: [...byId.values()], ...(failure && { failure }) };
}
