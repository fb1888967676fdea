import type { SearchHit } from '../domain/channel.ts';
import { AppError, isCouldNotTell, mostTelling } from '../domain/errors.ts';
import type { Clock } from '../lib/clock.ts';

/** What several sources have found together. */
export interface FoundChannels {
  /** Best first, no channel twice. */
  readonly hits: readonly SearchHit[];
  /** Where the lists of sources go on, by the source's name; those at their end are not named. */
  readonly next: Readonly<Record<string, string>>;
}

export interface SearchResult extends FoundChannels {
  /** Why a source gave no answer, or none in time; absent where all of them answered. */
  readonly failure?: AppError;
}

/**
 * Merges searches that run side by side, in their order. Where one has found something the others are waited for until
 * `waitMs` after the start; where nothing was found, until each of them has ended. A search that is late goes on until
 * its own deadline, so that its outcome still counts for or against its source.
 *
 * @throws whatever a search rejects with that is not "could not tell"; and what says most of several "could not tell"
 *   where nothing was found
 */
export async function searchAll(
  searches: readonly Promise<SearchResult>[],
  { clock, waitMs }: { readonly clock: Clock; readonly waitMs: number },
): Promise<SearchResult> {
  const results: (SearchResult | undefined)[] = searches.map(() => undefined);
  const failures: AppError[] = [];
  let running = searches.length;
  const firstHit = Promise.withResolvers<void>();
  const patience = Promise.withResolvers<void>();
  const cancelPatience = clock.after(waitMs, patience.resolve);

  const everyone = Promise.all(
    searches.map(async (search, index) => {
      try {
        const result = await search;
        results[index] = result;
        if (result.failure !== undefined) failures.push(result.failure);
        if (result.hits.length > 0) firstHit.resolve();
      } catch (error) {
        if (!isCouldNotTell(error)) throw error;
        failures.push(error);
      } finally {
        running -= 1;
      }
    }),
  );
  try {
    await Promise.race([everyone, Promise.all([patience.promise, firstHit.promise])]);
  } finally {
    cancelPatience();
  }

  const answered = results.filter((result) => result !== undefined);
  const failure = mostTelling(failures) ?? (running > 0 ? new AppError('upstream_timeout', TOO_LATE) : undefined);
  const found = mergeFound(answered);
  if (found.hits.length === 0 && failure !== undefined) throw failure;
  return failure === undefined ? found : { ...found, failure };
}

const TOO_LATE = 'A source of channels did not answer in time.';

/** No channel twice: the first mention stands. */
export function mergeFound(parts: readonly FoundChannels[]): FoundChannels {
  const byId = new Map<string, SearchHit>();
  for (const hit of parts.flatMap(({ hits }) => hits)) {
    if (!byId.has(hit.channelId)) byId.set(hit.channelId, hit);
  }
  return { hits: [...byId.values()], next: Object.assign({}, ...parts.map(({ next }) => next)) };
}
