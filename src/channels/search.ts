import type { Cache, Cached, Loaded } from '../cache/cache.ts';
import { searchKey, searchText } from '../cache/keys.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { hitOf, type SearchHit } from '../domain/channel.ts';
import { errorCodeOf } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { channelRefsOf } from '../domain/pasted.ts';
import type { Clock } from '../lib/clock.ts';
import { withDeadline } from '../lib/deadlines.ts';
import { createSharedWork } from '../lib/shared-work.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { Failover } from '../sources/failover.ts';
import type { SearchPage } from '../sources/source.ts';
import type { ChannelService } from './channels.ts';
import { searchAll } from './search-all.ts';

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
  readonly cache: Cache<SearchPage>;
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
   * @throws AppError `upstream_*` when nothing was found, and a source gave no usable response
   */
  search(query: string, limit: number, disconnected: AbortSignal): Promise<SearchResponse>;
}

/** The maximum `limit` of a request, and the page size for sources that support one. */
const MAX_HITS = 20;
/** How long clients may cache a list that needed no source. */
const FROM_CATALOG: CacheOutcome = { kind: 'catalog', ttlMs: 600_000, isCollapsed: false, isStored: false };
/** How long they may cache a list when a source gave no usable response. */
const PARTIAL: CacheOutcome = { kind: 'miss', ttlMs: 10_000, isCollapsed: false, isStored: false };

/** How long they may cache a list whose first channel has a stale name, which may be another channel's by now. */
const STALE_NAME_MS = 60_000;

/** The channel that a query names. */
interface NamedChannel extends SearchPage {
  /** True if its record or the name that led to it is stale. */
  readonly isStale?: boolean;
}

export function createSearchService(options: SearchServiceOptions): SearchService {
  const { catalog, sources, channels, cache, clock } = options;
  /** A search ends when all its clients have disconnected. One that waits in a queue is then never begun. */
  const running = createSharedWork<Cached<SearchPage>>();

  function withoutBlocked(hits: readonly SearchHit[]): readonly SearchHit[] {
    return hits.filter(({ channelId }) => !channels.isBlocked(channelId));
  }

  /** The channel that the query names, if any. Rejects if upstream fails. */
  async function findNamed(refs: readonly ChannelRef[]): Promise<NamedChannel> {
    if (refs.length === 0) return { hits: [] };
    try {
      const { channel, outcome } = await channels.getChannel(refs, 0);
      return { hits: [hitOf(channel)], isStale: outcome.kind === 'stale' };
    } catch (error) {
      if (['channel_not_found', 'channel_blocked'].includes(errorCodeOf(error))) return { hits: [] };
      throw error;
    }
  }

  async function findOwn(query: string): Promise<SearchPage> {
    return { hits: (await catalog?.search(query, MAX_HITS)) ?? [] };
  }

  /** The list of the sources, from the cache or loaded. */
  async function findLive(
    from: Pick<Failover, 'search'>,
    query: string,
    disconnected: AbortSignal,
  ): Promise<Cached<SearchPage>> {
    const key = searchKey(query);
    async function load(signal: AbortSignal): Promise<Loaded<SearchPage>> {
      const { hits } = await from.search(query, MAX_HITS, { signal });
      return { value: { hits: withoutBlocked(hits) } };
    }
    const isJoined = running.isRunning(key);
    const { value, outcome } = await running.run(key, disconnected, (signal) =>
      cache.get(key, () => load(signal), { softTimeoutMs: SEARCH_SOFT_TIMEOUT_MS }),
    );
    return { value, outcome: { ...outcome, isCollapsed: outcome.isCollapsed || (isJoined && outcome.kind !== 'hit') } };
  }

  async function find(text: string, disconnected: AbortSignal): Promise<SearchResponse> {
    const refs = channelRefsOf(text);
    // The address around a name would find other channels.
    const query = refs[0]?.value ?? text;
    const named = withDeadline(clock, NAMED_CHANNEL_MS, disconnected, () => findNamed(refs));
    const own = findOwn(query);
    const live = sources && findLive(sources, query, disconnected);
    const lists = [named, own, ...(live ? [live.then(({ value }) => value)] : [])];
    const found = await searchAll(lists, clock);
    // Another instance or an earlier run may have stored channels that are blocked here.
    const hits = withoutBlocked(found.hits);
    if (found.failure !== undefined) {
      // An empty list would mean that there are no such channels.
      if (hits.length === 0) throw found.failure;
      return { hits, outcome: PARTIAL };
    }
    if (live === undefined) return { hits, outcome: FROM_CATALOG };
    const { outcome } = await live;
    return {
      hits,
      outcome: (await named).isStale ? { ...outcome, ttlMs: Math.min(outcome.ttlMs, STALE_NAME_MS) } : outcome,
    };
  }

  return {
    async search(query, limit, disconnected) {
      const waiting = createClientSignal(disconnected);
      try {
        const { hits, outcome } = await find(searchText(query), waiting.signal);
        return { hits: hits.slice(0, limit), outcome };
      } finally {
        waiting.end();
      }
    },
  };
}

/** Follows the client's signal until `end` is called, so that a slow search continues after the response and is stored. */
function createClientSignal(disconnected: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort(disconnected.reason);
  if (disconnected.aborted) abort();
  disconnected.addEventListener('abort', abort, { once: true });
  return { signal: controller.signal, end: () => disconnected.removeEventListener('abort', abort) };
}
