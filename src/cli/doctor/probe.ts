import { AppError, valueOrError } from '../../domain/errors.ts';
import type { ChannelRef } from '../../domain/identifier.ts';
import { systemClock } from '../../lib/clock.ts';
import { withDeadline } from '../../lib/work.ts';
import { type ChannelSource, type LoadedChannel, loadFirst, type WayIn } from '../../sources/source.ts';

/** What the load of a channel, and the search for its title, returned. */
export type Probe =
  | { readonly failure: AppError }
  | {
      readonly failure?: undefined;
      readonly loaded: LoadedChannel;
      /** The number of hits on the first page, which is 0 for some channels, or why the search failed. */
      readonly search?: number | AppError;
    };

/** For the load, for the search, and for all ways. */
const CALLS_MS = 20_000;
/** As many as a client gets by default. */
const HITS = 20;

/**
 * Loads the channel of the first reference that is one, and searches for its title.
 *
 * @param searches false for a source whose searches are few
 */
export async function probe(
  source: Pick<ChannelSource, 'resolve' | 'getChannel' | 'search'>,
  refs: readonly ChannelRef[],
  searches: boolean,
): Promise<Probe> {
  const found = await inTime((signal) => loadFirst(source, refs, { signal }));
  if (found instanceof AppError) return { failure: found };
  const { loaded } = found;
  if (!searches) return { loaded };
  const search = await inTime((signal) => source.search(loaded.channel.title, HITS, { signal }));
  return { loaded, search: search instanceof AppError ? search : search.hits.length };
}

/** Tries each way of the source to the channel. */
export async function probeWays(source: Pick<ChannelSource, 'tryWays'>, channelId: string): Promise<readonly WayIn[]> {
  const found = await inTime(async (signal) => source.tryWays?.(channelId, { signal }) ?? []);
  return found instanceof AppError ? [] : found;
}

function inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | AppError> {
  return valueOrError(withDeadline(systemClock, CALLS_MS, new AbortController().signal, work));
}
