import type { Channel, SearchHit } from '../../src/domain/channel.ts';
import { AppError, type ErrorCode } from '../../src/domain/errors.ts';
import { compactCopy } from '../../src/lib/memory-cache.ts';
import { combineSources, type Sources, type SourcesOptions } from '../../src/sources/all-sources.ts';
import type { ChannelSource, LoadedChannel, LoadOptions } from '../../src/sources/source.ts';
import { createManualClock } from './clock.ts';

export const ID = 'UCPennantSample00000001A';

/** The ID of the test channel with this number. */
export function numberedChannelId(number: number): string {
  return `UC${String(number).padStart(22, '0')}`;
}

/** A channel whose other fields are unknown. */
export function testChannel(channelId: string, fields: Partial<Channel> = {}): Channel {
  return {
    channelId,
    title: `Channel ${channelId}`,
    description: null,
    customUrl: null,
    publishedAt: null,
    country: null,
    subscriberCount: null,
    viewCount: null,
    videoCount: null,
    links: null,
    banner: null,
    avatar: null,
    ...fields,
  };
}

/** What a source of the channel `ID` returns. */
export function record(changes: Partial<Channel> = {}, missing: (keyof Channel)[] = []): LoadedChannel {
  const counts = { subscriberCount: '1', viewCount: '2', videoCount: '3' };
  const channel = testChannel(ID, { description: '', customUrl: '@channel', links: [], ...counts, ...changes });
  return { channel, isComplete: missing.length === 0, missing };
}

export function hit(channelId: string, title = channelId): SearchHit {
  const unknown = { description: null, customUrl: null, subscriberCount: null, videoCount: null };
  return { channelId, title, ...unknown, banner: 'unknown', avatar: 'unknown' };
}

/** A source that has a channel with images for every ID, and finds nothing by handle or search. */
export function numberedSource(): ChannelSource {
  return {
    ...createStub({ name: 'numbered', channel: 'channel_not_found', hits: [] }),
    async getChannel(requestedId) {
      // A copy, as if read from a response: the requested ID may be a part of a long URL, which it would keep in memory.
      const channelId = compactCopy(requestedId);
      const image = { kind: 'remote', key: channelId, urls: [`https://yt3.ggpht.com/${channelId}`] } as const;
      const channel = testChannel(channelId, { links: [], banner: image, avatar: image, subscriberCount: '1' });
      return { channel, isComplete: true, missing: [] };
    },
  };
}

export const HELD_CHANNEL_ID = 'UCheld_________________A';
export const HELD_HANDLE = 'held';

export interface HeldSource extends ChannelSource {
  title: string;
  avatar: Channel['avatar'];
  /** From now on responses wait. Each has the values of the time of its call. */
  hold(): { readonly asked: Promise<void>; release(): void };
}

/**
 * A source of one channel whose title and avatar the test sets, and whose responses it can hold back.
 *
 * @param avatar of the channel; none without it
 */
export function createHeldSource(avatar: Channel['avatar'] = null): HeldSource {
  let held: { asked: PromiseWithResolvers<void>; released: PromiseWithResolvers<void> } | undefined;

  async function respond<T>(value: T): Promise<T> {
    held?.asked.resolve();
    await held?.released.promise;
    return value;
  }

  const customUrl = `@${HELD_HANDLE}`;
  function loaded(): LoadedChannel {
    const fields = { customUrl, publishedAt: '2014-05-17T09:30:00Z', avatar: source.avatar };
    return { channel: testChannel(HELD_CHANNEL_ID, { title: source.title, ...fields }), isComplete: true, missing: [] };
  }

  const other = createStub({ name: 'held', channel: 'channel_not_found' });
  const source: HeldSource = {
    ...other,
    title: 'old title',
    avatar,
    hold() {
      const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { asked, released };
      return {
        /** Resolves with the first call. */
        asked: asked.promise,
        release() {
          held = undefined;
          released.resolve();
        },
      };
    },
    resolve: (identifier, options) =>
      identifier.key === HELD_HANDLE
        ? respond({ channelId: HELD_CHANNEL_ID, loaded: loaded() })
        : other.resolve(identifier, options),
    getChannel: (channelId, options) =>
      channelId === HELD_CHANNEL_ID ? respond(loaded()) : other.getChannel(channelId, options),
    async search() {
      const found = { ...hit(HELD_CHANNEL_ID, source.title), customUrl, avatar: 'present', banner: 'absent' } as const;
      return respond([found]);
    },
  };
  return source;
}

export type Reply<T> = T | ErrorCode | 'hangs' | Error;

const DOWN = 'upstream_unavailable';

export interface Stub {
  readonly name?: string;
  readonly channel?: Reply<LoadedChannel>;
  readonly hits?: Reply<SearchHit[]>;
}

/** A source that gives one response, by default a failure; "hangs" never settles, whatever its signal says. */
export function createStub({ channel = DOWN, hits = DOWN, ...stub }: Stub = {}) {
  const signals: AbortSignal[] = [];
  async function give<T>(response: Reply<T>, { signal }: LoadOptions): Promise<T> {
    source.calls += 1;
    signals.push(signal);
    if (response === 'hangs') return new Promise(() => undefined);
    if (response instanceof Error) throw response;
    if (typeof response !== 'string') return response as T;
    throw new AppError(response as ErrorCode, response);
  }
  const source = {
    name: 'stub',
    ...stub,
    calls: 0,
    signals,
    resolve: async (_ref, options) => {
      const loaded = await give(channel, options);
      return { channelId: loaded.channel.channelId, loaded };
    },
    getChannel: (_id, options) => give(channel, options),
    search: (_query, options) => give(hits, options),
  } satisfies ChannelSource & { calls: number; signals: AbortSignal[] };
  return source;
}

export function over(stubs: readonly (Stub | ChannelSource)[], options: Partial<SourcesOptions> = {}): Sources {
  const sources = stubs.map((stub) => ('resolve' in stub ? stub : createStub(stub)));
  return combineSources({ sources, clock: createManualClock(), ...options });
}

export const live = (channel: Reply<LoadedChannel>): Stub => ({ name: 'live', channel });
