import type { Cache, Cached } from '../cache/cache.ts';
import { searchKey, searchText } from '../cache/keys.ts';
import { SOFT_TIMEOUT_MS } from '../cache/values.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { hitOf, type SearchHit } from '../domain/channel.ts';
import { errorCodeOf } from '../domain/errors.ts';
import type { Identifier } from '../domain/identifier.ts';
import { identifiersIn } from '../domain/pasted.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../lib/deadlines.ts';
import type { Sources } from '../sources/all-sources.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { ChannelService } from './channels.ts';
import { mergeLists } from './merge-lists.ts';

/** A response has the lists that are there by then. */
export const LIST_MS = 10_000;

interface SearchServiceOptions {
  /** It is absent if `SOURCES` does not name it. */
  readonly catalog: Pick<Catalog, 'search'> | undefined;
  /** They are absent if `SOURCES` names the catalog only. */
  readonly sources: Pick<Sources, 'search'> | undefined;
  readonly channels: Pick<ChannelService, 'findChannel' | 'isBlocked'>;
  /** The lists of the sources. */
  readonly cache: Cache<readonly SearchHit[]>;
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
   * @throws AppError `upstream_*` when nothing was found, and a source gave no usable response
   */
  search(query: string, limit: number): Promise<SearchResponse>;
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
interface NamedChannel {
  readonly hits: readonly SearchHit[];
  /** True if its record or the name that led to it is stale. */
  readonly isStale?: boolean;
}

export function createSearchService(options: SearchServiceOptions): SearchService {
  const { catalog, sources, channels, cache, clock } = options;

  function withoutBlocked(hits: readonly SearchHit[]): readonly SearchHit[] {
    return hits.filter(({ channelId }) => !channels.isBlocked(channelId));
  }

  /** The channel that the query names, if any. Rejects if YouTube fails. */
  async function findNamed(identifiers: readonly Identifier[]): Promise<NamedChannel> {
    if (identifiers.length === 0) return { hits: [] };
    try {
      const { channel, outcome } = await channels.findChannel(identifiers, 0);
      return channel === null ? { hits: [] } : { hits: [hitOf(channel)], isStale: outcome.kind === 'stale' };
    } catch (error) {
      if (errorCodeOf(error) === 'channel_blocked') return { hits: [] };
      throw error;
    }
  }

  async function findOwn(query: string): Promise<readonly SearchHit[]> {
    return (await catalog?.search(query, MAX_HITS)) ?? [];
  }

  /** The list of the sources, from the cache or loaded. */
  function findLive(from: Pick<Sources, 'search'>, query: string): Promise<Cached<readonly SearchHit[]>> {
    const load = async () => ({ value: withoutBlocked(await from.search(query, MAX_HITS)) });
    return cache.get(searchKey(query), load, { softTimeoutMs: SOFT_TIMEOUT_MS });
  }

  /** Late work goes on, so that its result is stored. */
  function inTime<T>(work: Promise<T>): Promise<T> {
    return withDeadline(clock, LIST_MS, NEVER_ABORTED, () => work);
  }

  async function find(text: string): Promise<SearchResponse> {
    const identifiers = identifiersIn(text);
    // The address around a name would find other channels.
    const query = identifiers[0]?.value ?? text;
    const named = inTime(findNamed(identifiers));
    const own = findOwn(query);
    const live = sources && inTime(findLive(sources, query));
    const lists = [named.then(({ hits }) => hits), own, ...(live ? [live.then(({ value }) => value)] : [])];
    const found = await mergeLists(lists);
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
    async search(query, limit) {
      const { hits, outcome } = await find(searchText(query));
      return { hits: hits.slice(0, limit), outcome };
    },
  };
}
