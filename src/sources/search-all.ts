import type { SearchHit } from '../domain/channel.ts';
import { AppError, isIndeterminate, mostSpecificError } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';
import { withinMs } from '../lib/deadlines.ts';

/** A search waits for slow sources after another source found something. */
export const SLOW_SOURCE_MS = 3_000;

/** The combined results of several sources. */
export interface FoundChannels {
  /** Best first, no channel twice. */
  readonly hits: readonly SearchHit[];
  /** Where each source's list continues, by source name. Sources whose list has ended are absent. */
  readonly next: Readonly<Record<string, string>>;
}

export interface SearchOutcome extends FoundChannels {
  /** Why a source returned nothing, or not in time; absent if all sources returned a page. */
  readonly failure?: AppError;
}

/**
 * Merges searches that run in parallel, in their order. Once a search has found something, the others have until
 * `SLOW_SOURCE_MS` after the start. If none finds anything, all of them are awaited. A late search runs on
 * until its own deadline, so that its outcome still counts for the pause of its source.
 *
 * @throws every error of a search that is not indeterminate; if nothing was found, the most specific indeterminate error
 */
export async function searchAll(searches: readonly Promise<SearchOutcome>[], clock: Clock): Promise<SearchOutcome> {
  const results: (SearchOutcome | undefined)[] = searches.map(() => undefined);
  const firstHit = Promise.withResolvers<void>();

  const everyone = Promise.all(
    searches.map(async (search, index) => {
      const result = await search.catch((failure: unknown): SearchOutcome => {
        if (isIndeterminate(failure)) return { hits: [], next: {}, failure };
        throw failure;
      });
      results[index] = result;
      if (result.hits.length > 0) firstHit.resolve();
    }),
  );
  await withinMs(clock, everyone, SLOW_SOURCE_MS);
  await Promise.race([everyone, firstHit.promise]);

  const tooLate = results.includes(undefined) ? new AppError('upstream_timeout', TOO_LATE) : undefined;
  const failure = mostSpecificError(results.flatMap((result) => result?.failure ?? [])) ?? tooLate;
  const found = mergeFound(results.filter((result) => result !== undefined));
  if (found.hits.length === 0 && failure !== undefined) throw failure;
  return failure === undefined ? found : { ...found, failure };
}

export const TOO_LATE = 'A source of channels did not respond in time.';

/** Joins lists without duplicates; the first mention of a channel wins. */
export function mergeFound(parts: readonly FoundChannels[]): FoundChannels {
  const byId = new Map<string, SearchHit>();
  for (const hit of parts.flatMap(({ hits }) => hits)) {
    if (!byId.has(hit.channelId)) byId.set(hit.channelId, hit);
  }
  return { hits: [...byId.values()], next: Object.assign({}, ...parts.map(({ next }) => next)) };
}
