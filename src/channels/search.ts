import type { Cache } from '../cache/cache.ts';
import { searchKey, searchText } from '../cache/keys.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import { hitOf, type SearchHit } from '../domain/channel.ts';
import { AppError, clearestError, errorCodeOf, valueOrError } from '../domain/errors.ts';
import { type Identifier, identifierOfId } from '../domain/identifier.ts';
import { identifiersIn } from '../domain/pasted.ts';
import type { Clock } from '../lib/clock.ts';
import { NEVER_ABORTED, withDeadline } from '../lib/deadlines.ts';
import type { Sources } from '../sources/all-sources.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { ChannelService } from './channels.ts';

/** A response has the lists that are there by then. */
export const LIST_MS = 10_000;

interface SearchServiceOptions {
  /** It is absent if `SOURCES` does not name it. */
  readonly catalog: Pick<Catalog, 'search' | 'find'> | undefined;
  /** They are absent if `SOURCES` names the catalog only. */
  readonly sources: Pick<Sources, 'search'> | undefined;
  readonly channels: Pick<ChannelService, 'findChannel'>;
  readonly blockedChannels: ReadonlySet<string>;
  /** The lists of the sources. */
  readonly cache: Cache<readonly SearchHit[]>;
  readonly clock: Clock;
}

interface SearchResponse {
  readonly hits: readonly SearchHit[];
  readonly outcome: CacheOutcome;
}

export type SearchService = ReturnType<typeof createSearchService>;

/** How long clients may cache a list that needed no source. */
const FROM_CATALOG: CacheOutcome = { kind: 'catalog', ttlMs: 600_000, isCollapsed: false, isStored: false };
/** How long they may cache a list when a source gave no usable response. */
const PARTIAL: CacheOutcome = { kind: 'miss', ttlMs: 10_000, isCollapsed: false, isStored: false };

/** How long they may cache a list whose first channel has a stale name, which may be another channel's by now. */
const STALE_NAME_MS = 60_000;

/** What one of the places has. */
interface Found {
  readonly hits: readonly SearchHit[];
  readonly outcome?: CacheOutcome;
  readonly failure?: AppError;
}

const NOTHING: Found = { hits: [] };

export function createSearchService(options: SearchServiceOptions) {
  const { catalog, sources, channels, blockedChannels, cache, clock } = options;

  function withoutBlocked(hits: readonly SearchHit[]): readonly SearchHit[] {
    return hits.filter(({ channelId }) => !blockedChannels.has(channelId));
  }

  /** The channel that the query names, if any. It is stale if its record or the name that led to it is. */
  async function findNamed(identifiers: readonly Identifier[]): Promise<Found> {
    if (identifiers.length === 0) return NOTHING;
    try {
      const { channel, outcome } = await channels.findChannel(identifiers, { softTimeoutMs: 0 });
      return channel === null ? NOTHING : { hits: [hitOf(channel)], outcome };
    } catch (error) {
      if (errorCodeOf(error) === 'channel_blocked') return NOTHING;
      throw error;
    }
  }

  /** The list of the sources, from the cache or loaded. */
  async function findLive(query: string): Promise<Found> {
    if (sources === undefined) return NOTHING;
    const load = async () => ({ value: withoutBlocked(await sources.search(query)) });
    const { value, outcome } = await cache.get(searchKey(query), load);
    return { hits: value, outcome };
  }

  /** The channel as the operator has it, if it is one of the catalog. */
  async function asOwn(hit: SearchHit): Promise<SearchHit> {
    const own = await catalog?.find(identifierOfId(hit.channelId));
    return own === undefined ? hit : hitOf(own);
  }

  /** Late work goes on, so that its result is stored. */
  async function inTime(work: Promise<Found>): Promise<Found> {
    const found = await valueOrError(withDeadline(clock, LIST_MS, NEVER_ABORTED, () => work));
    return found instanceof AppError ? { hits: [], failure: found } : found;
  }

  return {
    /**
     * Returns the channels that match the query, best first: the channel that it names, those of the catalog, and those of the
     * sources, whose list is cached. No channel twice.
     *
     * @throws AppError `upstream_*` when nothing was found, and a source gave no usable response
     */
    async search(q: string, limit: number): Promise<SearchResponse> {
      const text = searchText(q);
      const identifiers = identifiersIn(text);
      // The address around a name would find other channels.
      const query = identifiers[0]?.value ?? text;
      const [named, own = [], live] = await Promise.all([
        inTime(findNamed(identifiers)),
        catalog?.search(query),
        inTime(findLive(query)),
      ]);
      const byId = new Map<string, SearchHit>();
      for (const hit of [...named.hits, ...own, ...(await Promise.all(live.hits.map(asOwn)))])
        if (!byId.has(hit.channelId)) byId.set(hit.channelId, hit);
      // Another instance or an earlier run may have stored channels that are blocked here.
      const hits = withoutBlocked([...byId.values()]).slice(0, limit);
      const failure = clearestError([named, live].flatMap((found) => found.failure ?? []));
      if (failure !== undefined) {
        // An empty list would mean that there are no such channels.
        if (hits.length === 0) throw failure;
        return { hits, outcome: PARTIAL };
      }
      const { outcome = FROM_CATALOG } = live;
      const isStale = named.outcome?.kind === 'stale';
      return { hits, outcome: isStale ? { ...outcome, ttlMs: Math.min(outcome.ttlMs, STALE_NAME_MS) } : outcome };
    },
  };
}
