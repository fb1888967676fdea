import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { hitOf, type SearchHit } from '../domain/channel.ts';
import { AppError, errorCodeOf, isIndeterminate } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { channelRefsOf } from '../domain/pasted.ts';
import type { Clock } from '../lib/clock.ts';
import { withDeadline, withinMs } from '../lib/deadlines.ts';
import { createSharedWork } from '../lib/shared-work.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { Failover } from '../sources/failover.ts';
import { type FoundChannels, mergeFound, type SearchOutcome, searchAll, TOO_LATE } from '../sources/search-all.ts';
import { searchKey, searchText } from '../store/keys.ts';
import type { Cached, Loaded, ReadThrough } from '../store/read-through.ts';
import type { ChannelService } from './channels.ts';

/** A search with all further pages. */
export const SEARCH_MS = 11_000;
/** The channel that a search names. */
export const NAMED_CHANNEL_MS = 10_000;
/** A stale list is returned when its reload takes longer. Shorter than `SLOW_SOURCE_MS`, so that the search gets the list. */
export const SEARCH_SOFT_TIMEOUT_MS = 2_500;

interface SearchServiceOptions {
  /** Absent if `SOURCES` does not name it. */
  readonly catalog: Pick<Catalog, 'search'> | undefined;
  /** Absent if `SOURCES` names the catalog only. */
  readonly sources: Pick<Failover, 'search'> | undefined;
  readonly channels: Pick<ChannelService, 'getChannel' | 'isBlocked'>;
  /** The lists of the sources. */
  readonly cache: ReadThrough<FoundChannels>;
  readonly clock: Clock;
}

interface SearchResponse {
  readonly hits: readonly SearchHit[];
  readonly outcome: CacheOutcome;
}

export interface SearchService {
  /**
   * Returns the channels that match the query, best first: the channel that it names, those of the catalog, and those of the
   * sources, whose list is cached.
   *
   * @param disconnected aborted when the client disconnects
   * @throws AppError `upstream_*` when nothing was found, and the catalog or a source gave no usable response
   */
  search(query: string, limit: number, disconnected: AbortSignal): Promise<SearchResponse>;
}

/** The maximum `limit` of a request, and the page size for sources that support one. */
const MAX_HITS = 50;
/** How long clients may cache a list that needed no source. */
const OWN: CacheOutcome = { kind: 'own', ttlMs: 600_000, isCollapsed: false, isStored: false };
/** How long they may cache a list when the catalog or a source gave no usable response. */
const PARTIAL: CacheOutcome = { kind: 'miss', ttlMs: 10_000, isCollapsed: false, isStored: false };

/** The channel that a query names. */
interface NamedChannel extends SearchOutcome {
  /** True if its record or the name that led to it is stale: the name may be another channel's by now. */
  readonly isStale?: boolean;
}

/** An incomplete list, which is returned but never stored: to the read-through cache, its load failed. */
class PartialSearch extends AppError {
  readonly found: FoundChannels;
  readonly failure: AppError;

  constructor(found: FoundChannels, failure: AppError) {
    super('upstream_unavailable', 'A source of channels is unavailable at the moment.', { cause: failure });
    this.name = 'PartialSearch';
    this.found = found;
    this.failure = failure;
  }
}

export function createSearchService(options: SearchServiceOptions): SearchService {
  const { catalog, sources, channels, cache, clock } = options;
  /** A search ends when all its clients have disconnected. One that waits in a queue is then never begun. */
  const firstPages = createSharedWork<Cached<FoundChannels>>();
  const furtherPages = createSharedWork<FoundChannels>();

  function withoutBlocked<T extends FoundChannels>(found: T): T {
    return { ...found, hits: found.hits.filter(({ channelId }) => !channels.isBlocked(channelId)) };
  }

  /** The channel that the query names, if any. Rejects with an indeterminate error. */
  async function findNamed(refs: readonly ChannelRef[]): Promise<NamedChannel> {
    if (refs.length === 0) return NOTHING;
    try {
      const { channel, outcome } = await channels.getChannel(refs, 0);
      const isStale = outcome.kind === 'stale' || outcome.isProvisional === true;
      return { hits: [hitOf(channel)], next: {}, isStale };
    } catch (error) {
      if (['channel_not_found', 'channel_blocked'].includes(errorCodeOf(error))) return NOTHING;
      throw error;
    }
  }

  async function findOwn(query: string, _signal: AbortSignal): Promise<SearchOutcome> {
    return { hits: (await catalog?.search(query, MAX_HITS)) ?? [], next: {} };
  }

  /** The sources' first page, from the cache or loaded. */
  async function findFirstPage(
    from: Pick<Failover, 'search'>,
    query: string,
    disconnected: AbortSignal,
  ): Promise<Cached<FoundChannels>> {
    const key = searchKey(query);
    async function load(signal: AbortSignal): Promise<Loaded<FoundChannels>> {
      const { failure, ...found } = withoutBlocked(await from.search(query, MAX_HITS, { signal }));
      if (failure !== undefined) throw partial(found, failure);
      return { value: found };
    }
    const isJoined = firstPages.isRunning(key);
    const { value, outcome } = await firstPages.run(key, disconnected, (signal) =>
      cache.get(key, () => load(signal), { softTimeoutMs: SEARCH_SOFT_TIMEOUT_MS }),
    );
    const isCollapsed = outcome.isCollapsed || (isJoined && outcome.kind !== 'hit');
    // Another instance or an earlier run may have stored channels that are blocked here.
    return { value: withoutBlocked(value), outcome: { ...outcome, isCollapsed } };
  }

  /** Adds the next page of each source that has one. Concurrent requests for the same page share one load. */
  function loadNextPage(
    from: Pick<Failover, 'search'>,
    query: string,
    known: FoundChannels,
    disconnected: AbortSignal,
  ): Promise<FoundChannels> {
    const key = searchKey(query);
    return furtherPages.run(`${key} ${JSON.stringify(known.next)}`, disconnected, async (signal) => {
      const { failure, ...page } = await from.search(query, MAX_HITS, { from: known.next, signal });
      const found = { ...mergeFound([known, withoutBlocked(page)]), next: page.next };
      if (failure !== undefined) throw partial(found, failure);
      await cache.patch(key, (stored) => (isSamePlace(stored, known) ? found : stored));
      return found;
    });
  }

  /** Loads pages until the list, merged with what else was found, has `limit` hits or ends. */
  async function loadUpTo(
    limit: number,
    first: FoundChannels,
    others: FoundChannels,
    loadNext: (known: FoundChannels) => Promise<FoundChannels>,
  ): Promise<FoundChannels> {
    let found = first;
    const merged = () => mergeFound([others, found]);
    while (merged().hits.length < limit && hasNextPage(found)) {
      try {
        found = await loadNext(found);
      } catch (error) {
        if (!isIndeterminate(error)) throw error;
        if (error instanceof PartialSearch) found = error.found;
        throw partial(merged(), error instanceof PartialSearch ? error.failure : error);
      }
    }
    return merged();
  }

  async function find(text: string, limit: number, disconnected: AbortSignal): Promise<SearchResponse> {
    const startedAt = clock.monotonic();
    const refs = channelRefsOf(text);
    // The address around a name would find other channels.
    const query = refs[0]?.value ?? text;
    const named = withDeadline(clock, NAMED_CHANNEL_MS, disconnected, () => findNamed(refs));
    const own = findOwn(query, disconnected);
    const firstPage = sources && findFirstPage(sources, query, disconnected);
    const { failure, ...found } = await searchAll([named, own, ...(firstPage ? [listIn(firstPage)] : [])], clock);
    const shown = withoutBlocked(found);
    if (failure !== undefined) throw partial(shown, failure);
    if (sources === undefined || firstPage === undefined) return { hits: shown.hits, outcome: OWN };
    const { value: first, outcome: ofList } = await firstPage;
    const outcome = { ...ofList, isProvisional: (await named).isStale === true };
    if (outcome.kind === 'stale' || shown.hits.length >= limit || !hasNextPage(first))
      return { hits: shown.hits, outcome };
    const leftMs = SEARCH_MS - (clock.monotonic() - startedAt);
    const loadNext = (known: FoundChannels) => loadNextPage(sources, query, known, disconnected);
    const further = await withinMs(clock, loadUpTo(limit, first, shown, loadNext), leftMs);
    if (further === undefined) throw partial(shown, new AppError('upstream_timeout', TOO_LATE));
    return { hits: further.hits, outcome: { ...outcome, kind: 'miss', isStored: true } };
  }

  return {
    async search(query, limit, disconnected) {
      const waiting = createClientSignal(disconnected);
      try {
        const { hits, outcome } = await find(searchText(query), limit, waiting.signal);
        return { hits: hits.slice(0, limit), outcome };
      } catch (error) {
        if (!(error instanceof PartialSearch)) throw error;
        return { hits: error.found.hits.slice(0, limit), outcome: PARTIAL };
      } finally {
        waiting.end();
      }
    },
  };
}

const NOTHING: SearchOutcome = { hits: [], next: {} };

/** The list of a first page, even if it is incomplete. */
async function listIn(firstPage: Promise<Cached<FoundChannels>>): Promise<SearchOutcome> {
  try {
    return (await firstPage).value;
  } catch (error) {
    if (error instanceof PartialSearch) return { ...error.found, failure: error.failure };
    throw error;
  }
}

/** The failure itself if nothing was found: an empty list would mean that there are no such channels. */
function partial(found: FoundChannels, failure: AppError): AppError {
  return found.hits.length === 0 ? failure : new PartialSearch(found, failure);
}

/** Follows the client's signal until `end` is called, so that a slow search continues after the response and is stored. */
function createClientSignal(disconnected: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort(disconnected.reason);
  if (disconnected.aborted) abort();
  disconnected.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, end: () => disconnected.removeEventListener('abort', abort) };
}

function hasNextPage({ next }: FoundChannels): boolean {
  return Object.keys(next).length > 0;
}

function isSamePlace(one: FoundChannels, other: FoundChannels): boolean {
  return JSON.stringify(one.next) === JSON.stringify(other.next);
}
