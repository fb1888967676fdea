import type { Cached } from '../cache/cache.ts';
import type { ChannelEntry } from '../cache/policy.ts';
import { SOFT_TIMEOUT_MS } from '../cache/policy.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import { type ChannelRef, channelIdRef } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { CachedChannels, FoundId, RecordLookup } from './cached-channels.ts';

export interface ChannelResponse {
  readonly channel: Channel;
  readonly outcome: CacheOutcome;
}

interface ChannelServiceOptions {
  /** Absent if `SOURCES` does not name it. */
  readonly catalog: Pick<Catalog, 'find'> | undefined;
  /** Absent if `SOURCES` names the catalog only. */
  readonly cached: CachedChannels | undefined;
  readonly blockedChannels: ReadonlySet<string>;
  readonly clock: Clock;
}

/** How long clients may keep what comes from the catalog. */
const FROM_CATALOG: CacheOutcome = { kind: 'catalog', ttlMs: 3_600_000, isCollapsed: false, isStored: false };
/** How long clients may keep its "no such channel". */
const ABSENT_IN_CATALOG = { validForMs: 60_000, outcome: FROM_CATALOG };
/** Limits redirects from channel to channel, which could form a circle. */
const MAX_MOVES = 3;

/**
 * Records of channels. Each reference is looked up in the catalog, then in the cache and the sources. If a cached name or
 * redirect leads to an ID, that is looked up in the catalog, too.
 */
export interface ChannelService {
  /**
   * Returns the record of the first reference that is a channel. The next reference is tried only after a definite "no such
   * channel": after a failure of upstream it could be another channel.
   *
   * A cached record is at most an hour old, or stale when the sources fail or take longer than the soft timeout.
   *
   * @param softTimeoutMs that of all look-ups together. Default: 3 s. With 0 a stale record is returned at once, and a reload starts
   * @param isCurrent returns false for a record that must be loaded again, however fresh it is. Default: always true
   * @throws AppError `channel_not_found`, `channel_blocked`, or why the sources could not tell
   */
  getChannel(
    refs: readonly ChannelRef[],
    softTimeoutMs?: number,
    isCurrent?: (channel: Channel) => boolean,
  ): Promise<ChannelResponse>;
  /**
   * Returns the record of the catalog or the cached record, fresh or stale, and loads nothing.
   *
   * @throws AppError `channel_not_found` if that is what is cached or nothing can be loaded, `channel_blocked`
   */
  peekChannel(ref: ChannelRef): Promise<ChannelResponse | undefined>;
  isBlocked(channelId: string): boolean;
}

/** How names and records are found in the cache. */
interface Lookup {
  findId(ref: ChannelRef): Promise<FoundId | undefined>;
  findRecord(channelId: string): Promise<Cached<ChannelEntry> | undefined>;
}

export function createChannelService(options: ChannelServiceOptions): ChannelService {
  const { catalog, cached, blockedChannels, clock } = options;

  /** Loads what is not fresh. */
  function loading(softTimeoutMs: number, isCurrent: RecordLookup['isCurrent']): Lookup {
    const untilMs = clock.monotonic() + softTimeoutMs;
    const leftMs = () => Math.max(0, untilMs - clock.monotonic());
    return {
      findId: async (ref) => cached?.getId(ref, leftMs()),
      findRecord: async (channelId) => cached?.getRecord(channelId, { softTimeoutMs: leftMs(), isCurrent }),
    };
  }

  /** Loads nothing. */
  const peeking: Lookup = {
    findId: async (ref) => cached?.peekId(ref),
    findRecord: async (channelId) => cached?.peekRecord(channelId),
  };

  async function findOwn(ref: ChannelRef): Promise<ChannelResponse | undefined> {
    const own = await catalog?.find(ref);
    if (own !== undefined) {
      assertNotBlocked(own.channelId);
      return { channel: own, outcome: FROM_CATALOG };
    }
    if (cached !== undefined) return undefined;
    throw new AppError('channel_not_found', 'The catalog has no such channel.', ABSENT_IN_CATALOG);
  }

  async function find(ref: ChannelRef, lookup: Lookup): Promise<ChannelResponse | undefined> {
    if (ref.kind === 'id') return findById(ref.value, lookup);
    const own = await findOwn(ref);
    if (own !== undefined) return own;
    const name = await lookup.findId(ref);
    return name && capFreshness(name.outcome, await findById(name.value, lookup, name.record));
  }

  async function findById(
    channelId: string,
    lookup: Lookup,
    known?: Cached<ChannelEntry>,
    moves = 0,
  ): Promise<ChannelResponse | undefined> {
    assertNotBlocked(channelId);
    const own = await findOwn(channelIdRef(channelId));
    if (own !== undefined) return own;
    const found = known ?? (await lookup.findRecord(channelId));
    if (found === undefined) return undefined;
    const { value, outcome } = found;
    if ('channel' in value) return { channel: value.channel, outcome };
    if (moves === MAX_MOVES) throw new AppError('upstream_invalid', 'The channel redirects too often.');
    return capFreshness(outcome, await findById(value.movedTo, lookup, undefined, moves + 1));
  }

  function assertNotBlocked(channelId: string): void {
    if (!blockedChannels.has(channelId)) return;
    throw new AppError('channel_blocked', 'This channel is not available here: the operator has taken it down.');
  }

  return {
    async getChannel(refs, softTimeoutMs = SOFT_TIMEOUT_MS, isCurrent) {
      const lookup = loading(softTimeoutMs, isCurrent);
      let notFound: AppError | undefined;
      for (const ref of refs) {
        try {
          const found = await find(ref, lookup);
          if (found !== undefined) return found;
        } catch (error) {
          if (!isNoSuchChannel(error)) throw error;
          notFound = error;
        }
      }
      throw noSuchChannel(refs, notFound);
    },

    async peekChannel(ref) {
      try {
        return await find(ref, peeking);
      } catch (error) {
        throw isNoSuchChannel(error) ? noSuchChannel([ref], error) : error;
      }
    },

    isBlocked: (channelId) => blockedChannels.has(channelId),
  };
}

/** A record is stale if the name or redirect that led to it is stale. */
function capFreshness(reference: CacheOutcome, response: ChannelResponse | undefined): ChannelResponse | undefined {
  return response === undefined || reference.kind !== 'stale' ? response : { ...response, outcome: reference };
}

function isNoSuchChannel(error: unknown): error is AppError {
  return errorCodeOf(error) === 'channel_not_found';
}

const KIND_NAMES: Record<ChannelRef['kind'], string> = {
  id: 'ID',
  handle: 'handle',
  username: 'user name',
  custom: 'custom name',
};

function noSuchChannel(refs: readonly ChannelRef[], cause: AppError | undefined): AppError {
  const kinds = refs.map(({ kind }) => KIND_NAMES[kind]).join(' or ');
  const message = `There is no channel with the ${kinds} "${refs[0]?.value}".`;
  const { validForMs, outcome } = cause ?? {};
  return new AppError('channel_not_found', message, { validForMs, outcome, cause });
}
