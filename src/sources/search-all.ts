import type { SearchHit } from '../domain/channel.ts';
import { type AppError, isCouldNotTell } from '../domain/errors.ts';

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** False when a source failed or was too late: such a result is not worth storing. */
  readonly isComplete: boolean;
}

export interface SearchAllOptions {
  readonly limit: number;
  /** How long those that have answered wait for the others. */
  readonly waitMs: number;
}

/**
 * Merges searches that run side by side, in their order, no channel twice. A search that is late goes on until its own
 * deadline, so that its outcome still counts for or against its source.
 *
 * @returns no result when none answered; `failures` then says why
 */
export async function searchAll(
  searches: readonly Promise<readonly SearchHit[]>[],
  { limit, waitMs }: SearchAllOptions,
): Promise<{ result: SearchResult | undefined; failures: readonly AppError[] }> {
  const answers: (readonly SearchHit[] | undefined)[] = searches.map(() => undefined);
  const failures: AppError[] = [];
  const firstAnswer = Promise.withResolvers<void>();
  const patience = Promise.withResolvers<void>();
  const timer = setTimeout(patience.resolve, waitMs);

  const everyone = Promise.all(
    searches.map(async (search, index) => {
      try {
        answers[index] = await search;
        firstAnswer.resolve();
      } catch (error) {
        if (!isCouldNotTell(error)) throw error;
        failures.push(error);
      }
    }),
  );
  try {
    await Promise.race([everyone, Promise.all([patience.promise, firstAnswer.promise])]);
  } finally {
    clearTimeout(timer);
  }

  const answered = answers.filter((hits) => hits !== undefined);
  if (answered.length === 0) return { result: undefined, failures };
  const isComplete = answered.length === searches.length;
  return { result: { hits: mergeHits(answered).slice(0, limit), isComplete }, failures };
}

/** No channel twice: the first mention stands. */
function mergeHits(lists: readonly (readonly SearchHit[])[]): SearchHit[] {
  const byId = new Map<string, SearchHit>();
  for (const hit of lists.flat()) {
    if (!byId.has(hit.channelId)) byId.set(hit.channelId, hit);
  }
  return [...byId.values()];
}
