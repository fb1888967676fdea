import type { Channel } from '../domain/channel.ts';
import { AppError, type CacheOutcome, errorCodeOf } from '../domain/errors.ts';
import { type ChannelRef, findHandle } from '../domain/identifier.ts';
import { TIME_LIMITS_MS } from '../domain/time-limits.ts';
import type { Clock } from '../lib/clock.ts';
import type { Failover } from '../sources/failover.ts';
import type { LoadedChannel, Resolution } from '../sources/source.ts';
import { nameKey } from '../store/keys.ts';
import type { Cached, Loaded, ReadThrough } from '../store/read-through.ts';
import type { ChannelEntry } from './cache-policy.ts';
import type { ExactPublishDates } from './exact-publish-dates.ts';
import type { MissingFields } from './missing-fields.ts';

export interface ChannelResponse {
  readonly channel: Channel;
  readonly outcome: CacheOutcome;
}

interface ChannelServiceOptions {
  readonly sources: Pick<Failover, 'resolve' | 'getChannel'>;
  readonly records: ReadThrough<ChannelEntry>;
  readonly names: ReadThrough<string>;
  readonly publishDates: ExactPublishDates;
  readonly missingFields: Pick<MissingFields, 'note' | 'isMissing'>;
  readonly blockedChannels: ReadonlySet<string>;
  readonly clock: Clock;
}

/** After this time, a record that lacks fields is loaded again. */
const INCOMPLETE_FRESH_MS = 60_000;
/** How long the last good value of a field that one channel lacks is kept. Then the channel has removed it. */
const VANISHED_KEPT_MS = 3_600_000;
/** Limits redirects from channel to channel, which could form a circle. */
const MAX_MOVES = 3;

/** Records of channels, from the caches or the sources. */
export interface ChannelService {
  /**
   * Returns the record of the first reference that is a channel. The next reference is tried only after a definite "no such
   * channel": after an indeterminate error it could be another channel.
   *
   * The record is at most an hour old, or stale when the sources fail or take longer than 3 s.
   *
   * @throws AppError `channel_not_found`, `channel_blocked`, or why the sources could not tell
   */
  getChannel(refs: readonly ChannelRef[]): Promise<ChannelResponse>;
  /** Like `getChannel`, but a stale record is returned immediately, and a reload starts. */
  findChannel(refs: readonly ChannelRef[]): Promise<ChannelResponse>;
  /**
   * Returns the cached record, fresh or stale, and loads nothing.
   *
   * @throws AppError `channel_not_found` if that is what is cached, `channel_blocked`
   */
  peekChannel(ref: ChannelRef): Promise<ChannelResponse | undefined>;
  /** Loads the record again, however fresh it is. */
  reload(channelId: string): Promise<Channel>;
  isBlocked(channelId: string): boolean;
}

export function createChannelService(options: ChannelServiceOptions): ChannelService {
  const { sources, records, names, publishDates, missingFields, blockedChannels, clock } = options;

  async function loadRecord(channelId: string, previous: ChannelEntry | undefined): Promise<Loaded<ChannelEntry>> {
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
    if (loaded.isOwn === true) return { value: { channel: await withExactTime(loaded.channel), isComplete: true } };
    await keepHandle(loaded.channel);
    const vanished = missingFields.note(loaded, known?.channel);
    const vanishedAtMs = known?.vanishedAtMs ?? clock.now();
    const isNew = clock.now() - vanishedAtMs < VANISHED_KEPT_MS;
    const lost = vanished.filter((field) => isNew || missingFields.isMissing(field));
    const channel = await withExactTime(keepLastGood(loaded, lost, known?.channel));
    if (loaded.isComplete && lost.length === 0) return { value: { channel, isComplete: true } };
    return {
      value: { channel, isComplete: false, ...(lost.length > 0 && { vanishedAtMs }) },
      freshMs: INCOMPLETE_FRESH_MS,
      isStorable: known === undefined || !known.isComplete,
    };
  }

  /** The handle in a record is a name of the channel that need not be resolved. */
  async function keepHandle({ channelId, customUrl }: Channel): Promise<void> {
    const ref = findHandle(customUrl ?? '');
    if (ref !== undefined) await names.put(nameKey(ref), async () => ({ value: channelId }));
  }

  function withExactTime(channel: Channel): Promise<Channel> {
    return publishDates.complete(channel, (publishedAt) =>
      records.patch(channel.channelId, (entry) =>
        'channel' in entry ? { ...entry, channel: { ...entry.channel, publishedAt } } : entry,
      ),
    );
  }

  async function findByName(ref: ChannelRef, maxWaitMs: number): Promise<ChannelResponse> {
    const startedAt = clock.monotonic();
    let loadedRecord: Cached<ChannelEntry> | undefined;
    const { value: channelId, outcome } = await names.get(
      nameKey(ref),
      async () => {
        const { channelId, loaded } = await resolve(ref);
        if (blockedChannels.has(channelId)) return { value: channelId, isStorable: false };
        if (loaded !== undefined) loadedRecord = await keepFresh(loaded);
        return { value: channelId };
      },
      { staleWaitMs: maxWaitMs },
    );
    const leftMs = Math.max(0, maxWaitMs - (clock.monotonic() - startedAt));
    return notFresherThan(outcome, await getRecord(channelId, leftMs, loadedRecord));
  }

  /** As the client wrote it: lower case may be another handle (Σ is σ or ς). Then in the form of its key, whose absence is stored. */
  async function resolve(ref: ChannelRef): Promise<Resolution> {
    try {
      return await sources.resolve(ref);
    } catch (error) {
      if (errorCodeOf(error) !== 'channel_not_found' || ref.value === ref.key) throw error;
      return sources.resolve({ ...ref, value: ref.key });
    }
  }

  /** Keeps a fresh record, so that a channel is loaded once an hour under all its names together. */
  function keepFresh(loaded: LoadedChannel): Promise<Cached<ChannelEntry>> {
    const { channelId } = loaded.channel;
    return records.get(channelId, (previous) => entryOf(loaded, previous), { staleWaitMs: TIME_LIMITS_MS.refreshWait });
  }

  async function getRecord(
    channelId: string,
    staleWaitMs: number,
    known?: Cached<ChannelEntry>,
    moves = 0,
  ): Promise<ChannelResponse> {
    assertNotBlocked(channelId);
    const load = (previous: ChannelEntry | undefined) => loadRecord(channelId, previous);
    const { value, outcome } = known ?? (await records.get(channelId, load, { staleWaitMs }));
    if ('channel' in value) return { channel: value.channel, outcome };
    if (moves === MAX_MOVES) throw new AppError('upstream_invalid', 'The channel redirects too often.');
    return notFresherThan(outcome, await getRecord(value.movedTo, staleWaitMs, undefined, moves + 1));
  }

  async function findFirst(refs: readonly ChannelRef[], maxWaitMs: number): Promise<ChannelResponse> {
    let notFound: AppError | undefined;
    for (const ref of refs) {
      try {
        return await (ref.kind === 'id' ? getRecord(ref.value, maxWaitMs) : findByName(ref, maxWaitMs));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'channel_not_found') throw error;
        notFound = error;
      }
    }
    throw noSuchChannel(refs, notFound);
  }

  async function peekRecord(channelId: string, moves = 0): Promise<ChannelResponse | undefined> {
    assertNotBlocked(channelId);
    const cached = await records.peek(channelId);
    if (cached === undefined) return undefined;
    const { value, outcome } = cached;
    if ('channel' in value) return { channel: value.channel, outcome };
    return moves === MAX_MOVES ? undefined : notFresherThan(outcome, await peekRecord(value.movedTo, moves + 1));
  }

  function assertNotBlocked(channelId: string): void {
    if (!blockedChannels.has(channelId)) return;
    throw new AppError('channel_blocked', 'This channel is not available here: the operator has taken it down.');
  }

  return {
    getChannel: (refs) => findFirst(refs, TIME_LIMITS_MS.refreshWait),

    findChannel: (refs) => findFirst(refs, 0),

    async peekChannel(ref) {
      if (ref.kind === 'id') return peekRecord(ref.value);
      const name = await names.peek(nameKey(ref));
      return name && notFresherThan(name.outcome, await peekRecord(name.value));
    },

    async reload(channelId) {
      await records.refresh(channelId, (previous) => loadRecord(channelId, previous));
      return (await getRecord(channelId, 0)).channel;
    },

    isBlocked: (channelId) => blockedChannels.has(channelId),
  };
}

/** Returns the new record, with the last good values for the missing and lost fields. */
function keepLastGood(
  { channel, missing }: LoadedChannel,
  lost: readonly (keyof Channel)[],
  lastGood: Channel | undefined,
): Channel {
  if (lastGood === undefined) return channel;
  const kept = [...missing, ...lost].map((field) => [field, lastGood[field] ?? channel[field]]);
  // A source that never has links says nothing about them.
  return { ...channel, links: channel.links ?? lastGood.links, ...Object.fromEntries(kept) };
}

/** A record is stale if the name or the redirect that led to it is stale. */
function notFresherThan<T extends ChannelResponse | undefined>(reference: CacheOutcome, response: T): T {
  return response !== undefined && reference.kind === 'stale' ? { ...response, outcome: reference } : response;
}

const KIND_NAMES: Record<ChannelRef['kind'], string> = { id: 'ID', handle: 'handle', username: 'user name' };

function noSuchChannel(refs: readonly ChannelRef[], cause: AppError | undefined): AppError {
  const kinds = refs.map(({ kind }) => KIND_NAMES[kind]).join(' or ');
  const message = `There is no channel with the ${kinds} "${refs[0]?.value}".`;
  const { validForMs, outcome } = cause ?? {};
  return new AppError('channel_not_found', message, { validForMs, outcome, cause });
}
