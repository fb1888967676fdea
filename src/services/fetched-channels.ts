import type { Channel } from '../domain/channel.ts';
import type { ChannelRef } from '../domain/identifier.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import type { Failover } from '../sources/failover.ts';
import type { LoadedChannel } from '../sources/source.ts';
import { nameKey } from '../store/keys.ts';
import type { Cached, Loaded, ReadThrough } from '../store/read-through.ts';
import type { ChannelEntry } from './cache-policy.ts';
import type { ExactPublishDates } from './exact-publish-dates.ts';

interface FetchedChannelsOptions {
  readonly sources: Pick<Failover, 'resolve' | 'getChannel'>;
  readonly records: ReadThrough<ChannelEntry>;
  readonly names: ReadThrough<string>;
  readonly publishDates: ExactPublishDates;
  readonly blockedChannels: ReadonlySet<string>;
}

/** The ID of a name's channel, with its record if that was loaded together with the name. */
export interface FoundId extends Cached<string> {
  readonly record?: Cached<ChannelEntry> | undefined;
}

/** What is fetched: records and names from the caches, or else from the sources. */
export interface FetchedChannels {
  /** The channel ID of a handle or user name. @param staleWaitMs as in `GetOptions` */
  getId(ref: ChannelRef, staleWaitMs: number): Promise<FoundId>;
  getRecord(channelId: string, staleWaitMs: number): Promise<Cached<ChannelEntry>>;
  /** The cached ID, fresh or stale. */
  peekId(ref: ChannelRef): Promise<Cached<string> | undefined>;
  /** The cached record, fresh or stale. */
  peekRecord(channelId: string): Promise<Cached<ChannelEntry> | undefined>;
  /** Loads the record again, however fresh it is. */
  reload(channelId: string): Promise<unknown>;
}

/** After this time, a record that lacks fields is loaded again. */
const INCOMPLETE_FRESH_MS = 60_000;

export function createFetchedChannels(options: FetchedChannelsOptions): FetchedChannels {
  const { sources, records, names, publishDates, blockedChannels } = options;

  async function load(channelId: string, previous: ChannelEntry | undefined): Promise<Loaded<ChannelEntry>> {
    const loaded = await sources.getChannel(channelId);
    const movedTo = loaded.channel.channelId;
    if (movedTo === channelId) return entryOf(loaded, previous);
    // Nothing about a blocked channel is stored, not even a redirect to it.
    if (blockedChannels.has(movedTo)) return { value: { movedTo }, isStorable: false };
    await records.put(movedTo, (known) => entryOf(loaded, known));
    return { value: { movedTo } };
  }

  async function entryOf(loaded: LoadedChannel, previous: ChannelEntry | undefined): Promise<Loaded<ChannelEntry>> {
    const known = previous !== undefined && 'channel' in previous ? previous : undefined;
    const channel = await withExactTime(keepLastGood(loaded, known?.channel));
    if (loaded.isComplete) return { value: { channel, isComplete: true, isFetched: true } };
    return {
      value: { channel, isComplete: false, isFetched: true },
      freshMs: INCOMPLETE_FRESH_MS,
      isStorable: known === undefined || !known.isComplete,
    };
  }

  function withExactTime(channel: Channel): Promise<Channel> {
    return publishDates.complete(channel, (publishedAt) =>
      records.patch(channel.channelId, (entry) =>
        'channel' in entry ? { ...entry, channel: { ...entry.channel, publishedAt } } : entry,
      ),
    );
  }

  /** Keeps a fresh record, so that a channel is loaded once an hour under all its names together. */
  function keepFresh(loaded: LoadedChannel): Promise<Cached<ChannelEntry>> {
    const { channelId } = loaded.channel;
    return records.get(channelId, (previous) => entryOf(loaded, previous), { staleWaitMs: TIME_LIMITS_MS.refreshWait });
  }

  return {
    async getId(ref, staleWaitMs) {
      let record: Cached<ChannelEntry> | undefined;
      const loadId = async (): Promise<Loaded<string>> => {
        // As it is in the key: another spelling of the name would have the same response.
        const { channelId, loaded } = await sources.resolve({ ...ref, value: ref.key });
        if (blockedChannels.has(channelId)) return { value: channelId, isStorable: false };
        if (loaded !== undefined) record = await keepFresh(loaded);
        return { value: channelId };
      };
      const found = await names.get(nameKey(ref), loadId, { staleWaitMs });
      return { ...found, record };
    },

    getRecord: (channelId, staleWaitMs) =>
      records.get(channelId, (previous) => load(channelId, previous), { staleWaitMs }),

    peekId: (ref) => names.peek(nameKey(ref)),
    peekRecord: (channelId) => records.peek(channelId),
    reload: (channelId) => records.refresh(channelId, (previous) => load(channelId, previous)),
  };
}

/** Returns the new record, with the last good values for the missing fields. */
function keepLastGood({ channel, missing }: LoadedChannel, lastGood: Channel | undefined): Channel {
  if (lastGood === undefined) return channel;
  const kept = Object.fromEntries(missing.map((field) => [field, lastGood[field] ?? channel[field]]));
  return { ...channel, ...kept };
}
