import { hitOf, type SearchHit } from '../domain/channel.ts';
import { AppError, type CacheOutcome, errorCodeOf, isIndeterminate } from '../domain/errors.ts';
import { type ChannelRef, channelRefsOf } from '../domain/identifier.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import type { Clock } from '../lib/clock.ts';
import { createSharedWork, withDeadline, withinMs } from '../lib/work.ts';
import type { Failover } from '../sources/failover.ts';
import { type FoundChannels, mergeFound, type SearchResult, searchAll } from '../sources/search-all.ts';
import { searchKey, searchText } from '../store/keys.ts';
import type { Cached, Loaded, ReadThrough } from '../store/read-through.ts';
import type { ChannelService } from './channels.ts';

interface SearchServiceOptions {
  readonly sources: Pick<Failover, 'search'>;
  readonly channels: Pick<ChannelService, 'findChannel' | 'isBlocked'>;
  readonly cache: ReadThrough<FoundChannels>;
  readonly clock: Clock;
}

/** The maximum `limit` of a request, and the page size for sources that support one. */
const MAX_HITS = 50;
/** How long clients may cache a list when a source gave no usable response. */
const PARTIAL_FRESH_MS = 10_000;

/** An incomplete list, which is returned but never stored: to the read-through cache, its load failed. */
class PartialSearch extends AppError {
  readonly found: FoundChannels;

  constructor(found: FoundChannels, cause: AppError) {
    super('upstream_unavailable', 'A source of channels is unavailable at the moment.', { cause });
    this.name = 'PartialSearch';
    this.found = found;
  }
}

export type SearchService = ReturnType<typeof createSearchService>;

export function createSearchService({ sources, channels, cache, clock }: SearchServiceOptions) {
  /** A search ends when all its clients have disconnected. One that waits in a queue is then never begun. */
  const firstPages = createSharedWork<Cached<FoundChannels>>();
  const furtherPages = createSharedWork<FoundChannels>();

  async function loadFirst(query: string, signal: AbortSignal): Promise<Loaded<FoundChannels>> {
    const named = withDeadline(clock, TIME_LIMITS_MS.namedChannel, signal, () => findNamed(channelRefsOf(query)));
    const { failure, ...found } = await searchAll([named, sources.search(query, MAX_HITS, { signal })], clock);
    const shown = withoutBlocked(found);
    if (failure !== undefined) throw partial(shown, failure);
    return { value: shown };
  }

  /** Returns the channel that the query names, if any. Rejects with an indeterminate error. */
  async function findNamed(refs: readonly ChannelRef[]): Promise<SearchResult> {
    if (refs.length === 0) return { hits: [], next: {} };
    try {
      return { hits: [hitOf((await channels.findChannel(refs)).channel)], next: {} };
    } catch (error) {
      if (['channel_not_found', 'channel_blocked'].includes(errorCodeOf(error))) return { hits: [], next: {} };
      throw error;
    }
  }

  /** Adds the next page of each source that has one. Concurrent requests for the same page share one load. */
  function loadNext(query: string, known: FoundChannels, disconnected: AbortSignal): Promise<FoundChannels> {
    const key = searchKey(query);
    return furtherPages.run(`${key} ${JSON.stringify(known.next)}`, disconnected, async (signal) => {
      const { failure, ...page } = await sources.search(query, MAX_HITS, { from: known.next, signal });
      const found = { ...mergeFound([known, withoutBlocked(page)]), next: page.next };
      if (failure !== undefined) throw partial(found, failure);
      await cache.patch(key, (stored) => (isSamePlace(stored, known) ? found : stored));
      return found;
    });
  }

  /** Loads pages until the list has `limit` hits or ends. */
  async function loadUpTo(
    query: string,
    limit: number,
    first: FoundChannels,
    disconnected: AbortSignal,
  ): Promise<FoundChannels> {
    let found = first;
    while (found.hits.length < limit && hasNextPage(found)) {
      try {
        found = await loadNext(query, found, disconnected);
      } catch (error) {
        if (error instanceof PartialSearch || !isIndeterminate(error)) throw error;
        throw partial(found, error);
      }
    }
    return found;
  }

  /** The first page from the cache, or from the sources. */
  async function findFirst(query: string, disconnected: AbortSignal): Promise<Cached<FoundChannels>> {
    const key = searchKey(query);
    const isJoined = firstPages.isRunning(key);
    const { value, outcome } = await firstPages.run(key, disconnected, (signal) =>
      cache.get(key, () => loadFirst(query, signal), { staleWaitMs: TIME_LIMITS_MS.refreshWait }),
    );
    const isCollapsed = outcome.isCollapsed || (isJoined && outcome.kind !== 'hit');
    return { value, outcome: { ...outcome, isCollapsed } };
  }

  async function find(
    query: string,
    limit: number,
    disconnected: AbortSignal,
  ): Promise<{ found: FoundChannels; outcome: CacheOutcome }> {
    const startedAt = clock.monotonic();
    const { value, outcome } = await findFirst(query, disconnected);
    // Another instance or an earlier run may have stored channels that are blocked here.
    const first = withoutBlocked(value);
    if (outcome.kind === 'stale' || first.hits.length >= limit || !hasNextPage(first)) return { found: first, outcome };
    const leftMs = TIME_LIMITS_MS.search - (clock.monotonic() - startedAt);
    const found = await withinMs(clock, loadUpTo(query, limit, first, disconnected), leftMs);
    if (found === undefined) throw partial(first, new AppError('upstream_timeout', TOO_LATE));
    return { found, outcome: { ...outcome, kind: 'miss', isStored: true } };
  }

  function withoutBlocked({ hits, next }: FoundChannels): FoundChannels {
    return { hits: hits.filter(({ channelId }) => !channels.isBlocked(channelId)), next };
  }

  return {
    /**
     * Returns the channels that match the query, best first. A channel that the query names comes first.
     *
     * @param disconnected aborted when the client disconnects
     * @throws AppError `upstream_*` when nothing was found and a source gave no usable response
     */
    async search(
      query: string,
      limit: number,
      disconnected: AbortSignal,
    ): Promise<{ hits: readonly SearchHit[]; outcome: CacheOutcome }> {
      try {
        const { found, outcome } = await find(searchText(query), limit, disconnected);
        return { hits: found.hits.slice(0, limit), outcome };
      } catch (error) {
        if (!(error instanceof PartialSearch)) throw error;
        return { hits: error.found.hits.slice(0, limit), outcome: PARTIAL };
      }
    },
  };
}

/** The failure itself if nothing was found: an empty list would mean that there are no such channels. */
function partial(found: FoundChannels, failure: AppError): AppError {
  return found.hits.length === 0 ? failure : new PartialSearch(found, failure);
}

const TOO_LATE = 'A source of channels did not respond in time.';

const PARTIAL: CacheOutcome = { kind: 'miss', ttlMs: PARTIAL_FRESH_MS, isCollapsed: false, isStored: false };

function hasNextPage({ next }: FoundChannels): boolean {
  return Object.keys(next).length > 0;
}

function isSamePlace(one: FoundChannels, other: FoundChannels): boolean {
  return JSON.stringify(one.next) === JSON.stringify(other.next);
}
