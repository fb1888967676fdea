/**
 * Row numbers in order of subscribers, most first.
 *
 * SQLite walks a table and a full-text index by row number: with these, the first rows of any query are its most
 * subscribed channels, and a search for a letter that every record has stops after as many rows as it wants.
 */

/** Rows that may share one subscriber count. */
export const ROWS_PER_COUNT = 2 ** 21;
/** Counts from here on rank alike. Times `ROWS_PER_COUNT` this is the largest integer that JavaScript holds exactly. */
const MAX_RANKED_COUNT = 2 ** 32 - 2;

/** The first row number for channels with this many subscribers; unknown comes after none. */
export function firstRowOf(subscriberCount: string | null): number {
  const count = subscriberCount === null ? -1 : Math.min(Number(subscriberCount), MAX_RANKED_COUNT);
  return (MAX_RANKED_COUNT - count) * ROWS_PER_COUNT;
}
