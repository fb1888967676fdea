import type { Cached } from '../cache/cache.ts';
import type { CacheOutcome } from '../domain/cache-outcome.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError } from '../domain/errors.ts';
import { type Identifier, identifierOfId } from '../domain/identifier.ts';
import type { Catalog } from '../sources/catalog/catalog.ts';
import type { CachedChannels, ChannelLookup, Lookup } from './cached-channels.ts';

export interface ChannelResponse {
  readonly channel: Channel;
  readonly outcome: CacheOutcome;
  /** When the record was loaded (wall clock). A record of the catalog has no such time. */
  readonly loadedAtMs?: number;
}

/** The sources, or the catalog, know that there is no such channel. */
interface NoChannel {
  readonly channel: null;
  readonly outcome: CacheOutcome;
}

type ChannelResult = ChannelResponse | NoChannel;

interface ChannelServiceOptions {
  /** It is absent if `SOURCES` does not name it. */
  readonly catalog: Pick<Catalog, 'find'> | undefined;
  /** It is absent if `SOURCES` names the catalog only. */
  readonly cached: CachedChannels | undefined;
  readonly blockedChannels: ReadonlySet<string>;
}

/** How long clients may keep what comes from the catalog. */
const FROM_CATALOG: CacheOutcome = { kind: 'catalog', ttlMs: 3_600_000, isCollapsed: false, isStored: false };
/** How long clients may keep its "no such channel". */
const ABSENT_IN_CATALOG: NoChannel = { channel: null, outcome: { ...FROM_CATALOG, ttlMs: 60_000 } };
/** Limits redirects from channel to channel, which could form a circle. */
const MAX_MOVES = 3;

export type ChannelService = ReturnType<typeof createChannelService>;

/**
 * Records of channels. Each identifier is looked up in the catalog, then in the cache and the sources. If a cached name or
 * redirect leads to an ID, that is looked up in the catalog, too.
 */
export function createChannelService(options: ChannelServiceOptions) {
  const { catalog, cached, blockedChannels } = options;

  async function findOwn(identifier: Identifier): Promise<ChannelResult | undefined> {
    const own = await catalog?.find(identifier);
    if (own === undefined) return cached === undefined ? ABSENT_IN_CATALOG : undefined;
    assertNotBlocked(own.channelId);
    return { channel: own, outcome: FROM_CATALOG };
  }

  async function find(identifier: Identifier, lookup: Lookup | undefined): Promise<ChannelResult | undefined> {
    if (identifier.kind === 'id') return findById(identifier.value, lookup);
    const own = await findOwn(identifier);
    if (own !== undefined) return own;
    const name = await lookup?.findId(identifier);
    if (name === undefined) return undefined;
    return name.value === null
      ? { channel: null, outcome: name.outcome }
      : byWayOf(name, await findById(name.value, lookup));
  }

  async function findById(
    channelId: string,
    lookup: Lookup | undefined,
    moves = 0,
  ): Promise<ChannelResult | undefined> {
    assertNotBlocked(channelId);
    const own = await findOwn(identifierOfId(channelId));
    if (own !== undefined) return own;
    const found = await lookup?.findRecord(channelId);
    if (found === undefined) return undefined;
    const { value, outcome, storedAtMs } = found;
    if (value === null) return { channel: null, outcome };
    if ('channel' in value) return { channel: value.channel, outcome, loadedAtMs: storedAtMs };
    if (moves === MAX_MOVES) throw new AppError('upstream_invalid', 'The channel redirects too often.');
    return byWayOf(found, await findById(value.movedTo, lookup, moves + 1));
  }

  function assertNotBlocked(channelId: string): void {
    if (!blockedChannels.has(channelId)) return;
    throw new AppError('channel_blocked', 'This channel is not available here: the operator has taken it down.');
  }

  /**
   * Finds the record of the first identifier that is a channel. The next identifier is tried only after a definite "no such
   * channel": after a failure of YouTube it could be another channel.
   *
   * A cached record is at most an hour old, or stale when the sources fail or take longer than the soft timeout.
   *
   * @throws AppError `channel_blocked`, or why the sources could not tell
   */
  async function findChannel(identifiers: readonly Identifier[], options: ChannelLookup = {}): Promise<ChannelResult> {
    const lookup = cached?.loading(options);
    let found: ChannelResult | undefined;
    for (const identifier of identifiers) {
      found = await find(identifier, lookup);
      if (found?.channel !== null) break;
    }
    return found ?? ABSENT_IN_CATALOG;
  }

  return {
    findChannel,

    /** Finds the same record. @throws AppError also `channel_not_found` */
    async getChannel(identifiers: readonly Identifier[], options?: ChannelLookup): Promise<ChannelResponse> {
      return channelOf(identifiers, await findChannel(identifiers, options));
    },

    /** Makes this record stale, if it is still the cached one: the next look-up loads it. */
    async expire({ channel, loadedAtMs }: ChannelResponse): Promise<void> {
      if (loadedAtMs !== undefined) await cached?.expireRecord(channel.channelId, loadedAtMs);
    },

    /**
     * Returns the record of the catalog or the cached record, fresh or stale, and loads nothing.
     *
     * @throws AppError `channel_not_found` if that is what is cached or nothing can be loaded, `channel_blocked`
     */
    async getCachedChannel(identifier: Identifier): Promise<ChannelResponse | undefined> {
      const found = await find(identifier, cached?.cachedOnly);
      return found && channelOf([identifier], found);
    },
  };
}

/** The result at the end of a name or a redirect. It is stale if the way is stale, and loaded if the way was loaded. */
function byWayOf({ outcome: way }: Cached<unknown>, found: ChannelResult | undefined): ChannelResult | undefined {
  if (found === undefined || found.channel === null) return found;
  if (way.kind === 'stale') return { ...found, outcome: way };
  if (way.kind === 'hit' || found.outcome.kind !== 'hit') return found;
  return { ...found, outcome: { ...way, ttlMs: found.outcome.ttlMs } };
}

const KIND_NAMES: Record<Identifier['kind'], string> = {
  id: 'ID',
  handle: 'handle',
  username: 'user name',
  custom: 'custom name',
};

/** @throws AppError `channel_not_found` */
function channelOf(identifiers: readonly Identifier[], result: ChannelResult): ChannelResponse {
  if (result.channel !== null) return result;
  const { outcome } = result;
  const kinds = identifiers.map(({ kind }) => KIND_NAMES[kind]).join(' or ');
  const message = `There is no channel with the ${kinds} "${identifiers[0]?.value}".`;
  throw new AppError('channel_not_found', message, { validForMs: Math.max(0, outcome.ttlMs), outcome });
}
