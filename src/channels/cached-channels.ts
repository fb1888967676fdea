import { type Cache, type Cached, type Loaded, type LookupOptions, SOFT_TIMEOUT_MS } from '../cache/cache.ts';
import { channelKey, nameKey } from '../cache/keys.ts';
import { ABSENCE, type RecordOrRedirect, type StoredRecord } from '../cache/values.ts';
import type { Channel } from '../domain/channel.ts';
import { AppError, errorCodeOf } from '../domain/errors.ts';
import { findHandle, type Identifier } from '../domain/identifier.ts';
import type { Clock } from '../lib/clock.ts';
import type { Sources } from '../sources/all-sources.ts';
import type { LoadedChannel } from '../sources/source.ts';

interface CachedChannelsOptions {
  readonly sources: Pick<Sources, 'resolve' | 'getChannel'>;
  readonly records: Cache<RecordOrRedirect | null>;
  readonly names: Cache<string | null>;
  readonly blockedChannels: ReadonlySet<string>;
  readonly clock: Clock;
}

/** How names and records are found. The value `null`: there is no such channel. `undefined`: nothing is known. */
export interface Lookup {
  /** The channel ID of a handle or user name. */
  findId(identifier: Identifier): Promise<Cached<string | null> | undefined>;
  findRecord(channelId: string): Promise<Cached<RecordOrRedirect | null> | undefined>;
}

/** As for the cache, for all look-ups together. */
export type ChannelLookup = Pick<LookupOptions, 'softTimeoutMs'>;

export type CachedChannels = ReturnType<typeof createCachedChannels>;

/** After this time, a record whose About panel was lost is loaded again. */
const INCOMPLETE_FRESH_MS = 60_000;
/** How long a field that YouTube no longer sends keeps its last good value. */
const LOST_FIELD_MS = 24 * 3_600_000;

/** Records and names from the cache, or else from the sources. */
export function createCachedChannels(options: CachedChannelsOptions) {
  const { sources, records, names, blockedChannels, clock } = options;

  async function loadRecord(
    channelId: string,
    previous: RecordOrRedirect | null | undefined,
  ): Promise<Loaded<RecordOrRedirect | null>> {
    const known = recordIn(previous);
    const loaded = await orNull(sources.getChannel(channelId, { known }));
    if (loaded === null) return ABSENCE;
    const movedTo = loaded.channel.channelId;
    if (movedTo === channelId) return prepareRecord(loaded, known);
    // Nothing about a blocked channel is stored, not even a redirect to it.
    if (blockedChannels.has(movedTo)) return { value: { movedTo }, isStored: false };
    await storeRecord(loaded);
    return { value: { movedTo } };
  }

  /** Also stores the handle in the record as a name of the channel, so that it need not be resolved. */
  function prepareRecord(found: LoadedChannel, known: StoredRecord | undefined): Loaded<StoredRecord> {
    const { channelId, customUrl } = found.channel;
    const handle = findHandle(customUrl ?? '');
    if (handle !== undefined) names.put(nameKey(handle), { value: channelId });
    const value = keepLastGood(found, known, clock.now());
    return found.isComplete ? { value } : { value, freshMs: INCOMPLETE_FRESH_MS };
  }

  /** Stores a record that came with a name or a redirect, unless a fresh one is cached: all of them share one load an hour. */
  async function storeRecord(loaded: LoadedChannel): Promise<void> {
    const key = channelKey(loaded.channel.channelId);
    const cached = await records.getCached(key);
    const known = recordIn(cached?.value);
    if (known !== undefined && cached?.outcome.kind === 'hit') return;
    records.put(key, prepareRecord(loaded, cached?.isLost === true ? undefined : known));
  }

  /** @param previous the channel to which the name led before */
  async function loadId(identifier: Identifier, previous: string | null | undefined): Promise<Loaded<string | null>> {
    const found = await orNull(sources.resolve(identifier));
    if (found === null) {
      return typeof previous === 'string' && (await keepsName(identifier, previous)) ? { value: previous } : ABSENCE;
    }
    const { channelId, loaded } = found;
    if (blockedChannels.has(channelId)) return { value: channelId, isStored: false };
    if (loaded !== undefined) await storeRecord(loaded);
    return { value: channelId };
  }

  /**
   * Whether the channel still has a name that YouTube no longer resolves. That may be a mistake of YouTube’s, so the channel's
   * own record decides. Records have no user names and custom names, and a channel never loses these.
   *
   * @throws AppError if the record cannot be loaded
   */
  async function keepsName(identifier: Identifier, channelId: string): Promise<boolean> {
    if (blockedChannels.has(channelId)) return false;
    const { value, outcome } = await getRecord(channelId);
    if (outcome.kind === 'stale') throw new AppError('upstream_unavailable', 'It is not known who has this name.');
    if (value === null) return false;
    if (identifier.kind !== 'handle' || !('channel' in value)) return true;
    return findHandle(value.channel.customUrl ?? '')?.key === identifier.key;
  }

  function getRecord(channelId: string, lookup?: LookupOptions): Promise<Cached<RecordOrRedirect | null>> {
    return records.get(channelKey(channelId), (previous) => loadRecord(channelId, previous), lookup);
  }

  return {
    /** Loads what is not fresh. */
    loading({ softTimeoutMs = SOFT_TIMEOUT_MS }: ChannelLookup): Lookup {
      const untilMs = clock.monotonic() + softTimeoutMs;
      const leftMs = () => Math.max(0, untilMs - clock.monotonic());
      return {
        findId: (identifier) =>
          names.get(nameKey(identifier), (previous) => loadId(identifier, previous), { softTimeoutMs: leftMs() }),
        findRecord: (channelId) => getRecord(channelId, { softTimeoutMs: leftMs() }),
      };
    },

    /** Finds what is cached, fresh or stale. */
    cachedOnly: {
      findId: (identifier) => names.getCached(nameKey(identifier)),
      findRecord: (channelId) => records.getCached(channelKey(channelId)),
    } satisfies Lookup,

    /** Makes the record that was loaded at this time stale. */
    expireRecord: (channelId: string, loadedAtMs: number) => records.expire(channelKey(channelId), loadedAtMs),
  };
}

/** What a source has found; `null` for its "no such channel". */
async function orNull<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (errorCodeOf(error) === 'channel_not_found') return null;
    throw error;
  }
}

/** The record; `undefined` for a redirect or an absence. */
function recordIn(value: RecordOrRedirect | null | undefined): StoredRecord | undefined {
  return value && 'channel' in value ? value : undefined;
}

/** The new record, with the last good values of the fields that YouTube did not send. */
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
