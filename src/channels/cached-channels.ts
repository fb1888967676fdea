import type { Cache, Cached, Loaded } from '../cache/cache.ts';
import { channelKey, nameKey } from '../cache/keys.ts';
import { type ChannelEntry, SOFT_TIMEOUT_MS, type StoredRecord } from '../cache/policy.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import { type ChannelRef, findHandle } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import type { Failover } from '../sources/failover.ts';
import type { LoadedChannel, Resolution } from '../sources/source.ts';

interface CachedChannelsOptions {
  readonly sources: Pick<Failover, 'resolve' | 'getChannel'>;
  readonly records: Cache<ChannelEntry>;
  readonly names: Cache<string>;
  readonly blockedChannels: ReadonlySet<string>;
  readonly clock: Clock;
}

/** The ID of a name's channel, with its record if that was loaded together with the name. */
export interface FoundId extends Cached<string> {
  readonly record?: Cached<ChannelEntry> | undefined;
}

/** How a record is looked up. */
export interface RecordLookup {
  /** That of the caches. */
  readonly softTimeoutMs: number;
  /** Returns false for a record that must be loaded again, however fresh it is. Default: always true. */
  readonly isCurrent?: ((channel: Channel) => boolean) | undefined;
}

/** Records and names from the cache, or else from the sources. */
export interface CachedChannels {
  /** The channel ID of a handle or user name. @param softTimeoutMs that of the caches */
  getId(ref: ChannelRef, softTimeoutMs: number): Promise<FoundId>;
  getRecord(channelId: string, lookup: RecordLookup): Promise<Cached<ChannelEntry>>;
  /** The cached ID, fresh or stale. */
  peekId(ref: ChannelRef): Promise<Cached<string> | undefined>;
  /** The cached record, fresh or stale. */
  peekRecord(channelId: string): Promise<Cached<ChannelEntry> | undefined>;
}

/** After this time, a record whose About panel was lost is loaded again. */
const INCOMPLETE_FRESH_MS = 60_000;
/** How long a field that upstream no longer sends keeps its last good value. */
const LOST_FIELD_MS = 24 * 3_600_000;

export function createCachedChannels(options: CachedChannelsOptions): CachedChannels {
  const { sources, records, names, blockedChannels, clock } = options;

  async function load(channelId: string, previous: ChannelEntry | undefined): Promise<Loaded<ChannelEntry>> {
    const loaded = await sources.getChannel(channelId, { known: recordIn(previous) });
    const movedTo = loaded.channel.channelId;
    if (movedTo === channelId) return prepareEntry(loaded, previous);
    // Nothing about a blocked channel is stored, not even a redirect to it.
    if (blockedChannels.has(movedTo)) return { value: { movedTo }, isStorable: false };
    await records.put(channelKey(movedTo), (known) => prepareEntry(loaded, known));
    return { value: { movedTo } };
  }

  /** The entry for a loaded record. Also stores its handle. */
  async function prepareEntry(found: LoadedChannel, previous: ChannelEntry | undefined): Promise<Loaded<ChannelEntry>> {
    await storeHandle(found.channel);
    const value = keepLastGood(found, recordIn(previous), clock.now());
    return found.isComplete ? { value } : { value, freshMs: INCOMPLETE_FRESH_MS };
  }

  /** Stores the handle in a record as a name of the channel, so that it need not be resolved. */
  async function storeHandle({ channelId, customUrl }: Channel): Promise<void> {
    const ref = findHandle(customUrl ?? '');
    if (ref !== undefined) await names.put(nameKey(ref), async () => ({ value: channelId }));
  }

  /** @param previous the channel to which the name led before */
  async function resolveAgain(ref: ChannelRef, previous: string): Promise<Resolution> {
    try {
      return await sources.resolve(ref);
    } catch (error) {
      const mayKeep = errorCodeOf(error) === 'channel_not_found' && !blockedChannels.has(previous);
      if (mayKeep && (await keepsName(ref, previous))) return { channelId: previous };
      throw error;
    }
  }

  /**
   * Whether the channel still has a name that upstream no longer resolves. That may be a mistake of upstream, so the channel's
   * own record decides. Records have no user names and custom names, and a channel never loses these.
   *
   * @throws AppError `channel_not_found` if the channel has another name or is gone; if its record cannot be loaded, the
   *   failure
   */
  async function keepsName(ref: ChannelRef, channelId: string): Promise<boolean> {
    const { value, outcome } = await getRecord(channelId, { softTimeoutMs: SOFT_TIMEOUT_MS });
    if (outcome.kind === 'stale') throw new AppError('upstream_unavailable', 'It is not known who has this name.');
    if (ref.kind !== 'handle' || !('channel' in value)) return true;
    return findHandle(value.channel.customUrl ?? '')?.key === ref.key;
  }

  function getRecord(
    channelId: string,
    { softTimeoutMs, isCurrent = () => true }: RecordLookup,
  ): Promise<Cached<ChannelEntry>> {
    return records.get(channelKey(channelId), (previous) => load(channelId, previous), {
      softTimeoutMs,
      isCurrent: (entry) => !('channel' in entry) || isCurrent(entry.channel),
    });
  }

  /** Stores the record that came with a name, unless a fresh one is cached: all names of a channel share one load an hour. */
  function storeUnlessFresh(loaded: LoadedChannel): Promise<Cached<ChannelEntry>> {
    return records.get(channelKey(loaded.channel.channelId), (previous) => prepareEntry(loaded, previous), {
      softTimeoutMs: SOFT_TIMEOUT_MS,
    });
  }

  return {
    async getId(ref, softTimeoutMs) {
      let record: Cached<ChannelEntry> | undefined;
      const loadChannelId = async (previous: string | undefined): Promise<Loaded<string>> => {
        const { channelId, loaded } = await (previous === undefined
          ? sources.resolve(ref)
          : resolveAgain(ref, previous));
        if (blockedChannels.has(channelId)) return { value: channelId, isStorable: false };
        if (loaded !== undefined) record = await storeUnlessFresh(loaded);
        return { value: channelId };
      };
      const found = await names.get(nameKey(ref), loadChannelId, { softTimeoutMs });
      return { ...found, record };
    },

    getRecord,

    peekId: (ref) => names.peek(nameKey(ref)),
    peekRecord: (channelId) => records.peek(channelKey(channelId)),
  };
}

/** The record of an entry; `undefined` for a redirect. */
function recordIn(entry: ChannelEntry | undefined): StoredRecord | undefined {
  return entry !== undefined && 'channel' in entry ? entry : undefined;
}

/** The new record, with the last good values of the fields that upstream did not send. */
function keepLastGood(
  { channel, missing, feed }: LoadedChannel,
  known: StoredRecord | undefined,
  nowMs: number,
): StoredRecord {
  if (known === undefined) return { channel, feed, loadedAtMs: nowMs, lastSeenAtMs: {} };
  const seenAtMs = (field: keyof Channel) => known.lastSeenAtMs[field] ?? known.loadedAtMs;
  const kept = (Object.keys(channel) as (keyof Channel)[])
    .filter((field) => missing.includes(field) || !hasValue(channel[field]))
    .filter((field) => hasValue(known.channel[field]) && nowMs - seenAtMs(field) < LOST_FIELD_MS);
  return {
    channel: { ...channel, ...Object.fromEntries(kept.map((field) => [field, known.channel[field]])) },
    // A record of a source without a feed does not make the values of the feed untrue.
    feed: feed ?? known.feed,
    loadedAtMs: nowMs,
    lastSeenAtMs: Object.fromEntries(kept.map((field) => [field, seenAtMs(field)])),
  };
}

/** False for an empty text or list too, which may be what is left after a change of the layout. */
function hasValue(value: Channel[keyof Channel]): boolean {
  return value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}
