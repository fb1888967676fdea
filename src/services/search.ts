import { searchKey } from '../cache/keys.ts';
import type { Loaded, ReadThrough } from '../cache/read-through.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel, SearchHit } from '../domain/channel.ts';
import { channelRefsOf } from '../domain/channel-url.ts';
import { AppError, isCouldNotTell } from '../domain/errors.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { withinMs } from '../lib/within-ms.ts';
import type { ChannelService } from './channels.ts';

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  readonly outcome: CacheOutcome;
}

export interface SearchService {
  /** Channels that fit the query, best first. A query that names one channel finds that very channel first. */
  search(query: string, limit: number): Promise<SearchAnswer>;
}

export interface SourceHits {
  readonly hits: readonly SearchHit[];
  /** False when a source failed or was too late. */
  readonly isComplete: boolean;
}

export interface SearchServiceOptions {
  readonly search: (query: string, limit: number) => Promise<SourceHits>;
  readonly channels: Pick<ChannelService, 'findChannel' | 'isBlocked'>;
  readonly cache: ReadThrough<readonly SearchHit[]>;
}

const PARTIAL_FRESH_MS = 60_000;
const REFRESH_WAIT_MS = 3_000;
/** A source that does not answer holds up a search no longer than this. */
const NAMED_WAIT_MS = 3_000;
/** Two cached sizes for each query: upstream's page, and the most that may be asked for. */
const CACHED_SIZES = [20, 50] as const;

export function createSearchService({ search, channels, cache }: SearchServiceOptions): SearchService {
  async function load(
    query: string,
    limit: number,
    previous: readonly SearchHit[] | undefined,
  ): Promise<Loaded<readonly SearchHit[]>> {
    const [named, found] = await Promise.all([
      withinMs(findNamed(channelRefsOf(query)), NAMED_WAIT_MS),
      search(query, limit),
    ]);
    const isComplete = found.isComplete && named !== undefined;
    // What some sources found is worth less than what all of them found a while ago.
    if (!isComplete && previous !== undefined) {
      throw new AppError('upstream_unavailable', 'A source of channels cannot be asked at the moment.');
    }
    const exact = named ?? [];
    const rest = found.hits.filter(
      ({ channelId }) => channelId !== exact[0]?.channelId && !channels.isBlocked(channelId),
    );
    const hits = [...exact, ...rest].slice(0, limit);
    return isComplete ? { value: hits } : { value: hits, freshMs: PARTIAL_FRESH_MS, isStorable: false };
  }

  /** The channel that the query names, none when there is no such channel, `undefined` when that could not be told. */
  async function findNamed(refs: readonly ChannelRef[]): Promise<readonly SearchHit[] | undefined> {
    if (refs.length === 0) return [];
    try {
      return [hitOf((await channels.findChannel(refs)).channel)];
    } catch (error) {
      if (isCouldNotTell(error)) return undefined;
      if (error instanceof AppError && ABSENCES.has(error.code)) return [];
      throw error;
    }
  }

  return {
    async search(query, limit) {
      const size = CACHED_SIZES.find((cached) => cached >= limit) ?? limit;
      const { value, outcome } = await cache.get(searchKey(query, size), (previous) => load(query, size, previous), {
        staleWaitMs: REFRESH_WAIT_MS,
      });
      // Another instance, or an earlier start, may have stored it with what is blocked here.
      return { hits: value.filter((hit) => !channels.isBlocked(hit.channelId)).slice(0, limit), outcome };
    },
  };
}

const ABSENCES: ReadonlySet<string> = new Set(['channel_not_found', 'channel_blocked']);

function hitOf(channel: Channel): SearchHit {
  return {
    channelId: channel.channelId,
    title: channel.title,
    description: channel.description,
    customUrl: channel.customUrl,
    subscriberCount: channel.subscriberCount,
    videoCount: channel.videoCount,
    banner: channel.banner === null ? 'absent' : 'present',
    avatar: channel.avatar === null ? 'absent' : 'present',
  };
}
