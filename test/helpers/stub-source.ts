import type { Channel, SearchHit } from '../../src/domain/channel.ts';
import { AppError, type ErrorCode } from '../../src/domain/errors.ts';
import { createFailover, type Failover, type FailoverOptions } from '../../src/sources/failover.ts';
import type { ChannelSource, LoadedChannel } from '../../src/sources/source.ts';
import { createManualClock } from './clock.ts';

export const ID = 'UCPennantSample00000001A';

const CHANNEL: Channel = {
  channelId: ID,
  title: 'A channel',
  description: '',
  customUrl: '@channel',
  publishedAt: null,
  country: null,
  subscriberCount: '1',
  viewCount: '2',
  videoCount: '3',
  links: [],
  banner: null,
  avatar: null,
};

export function record(
  changes: Partial<Channel> = {},
  missing: (keyof Channel)[] = [],
  isComplete = missing.length === 0,
) {
  return { channel: { ...CHANNEL, ...changes }, isComplete, missing } satisfies LoadedChannel;
}

export function hit(channelId: string, title = channelId): SearchHit {
  return {
    channelId,
    title,
    description: null,
    customUrl: null,
    subscriberCount: null,
    videoCount: null,
    banner: 'unknown',
    avatar: 'unknown',
  };
}

export type Answer<T> = T | ErrorCode | 'hangs' | Error;

export interface Stub {
  readonly name?: string;
  readonly isLive?: boolean;
  readonly channel?: Answer<LoadedChannel>;
  readonly hits?: Answer<SearchHit[]>;
  readonly retryAfterMs?: number;
}

/** A source that gives one answer; "hangs" never settles, whatever its signal says. */
export function createStub(stub: Stub): ChannelSource & { calls: number; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const give = <T>(answer: Answer<T> | undefined, signal: AbortSignal): Promise<T> => {
    source.calls += 1;
    signals.push(signal);
    if (answer === 'hangs') return new Promise(() => undefined);
    if (answer instanceof Error) return Promise.reject(answer);
    const { retryAfterMs } = stub;
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    if (typeof answer === 'string') return Promise.reject(new AppError(answer as ErrorCode, answer, options));
    return Promise.resolve(answer as T);
  };
  const source = {
    name: stub.name ?? 'stub',
    isLive: stub.isLive ?? true,
    calls: 0,
    signals,
    resolve: (_ref: unknown, { signal }: { signal: AbortSignal }) =>
      give(stub.channel, signal).then((loaded) => ({ channelId: loaded.channel.channelId, loaded })),
    getChannel: (_id: string, { signal }: { signal: AbortSignal }) => give(stub.channel, signal),
    search: (_query: string, _limit: number, { signal }: { signal: AbortSignal }) =>
      give(stub.hits, signal).then((hits) => ({ hits })),
    close: async () => undefined,
  };
  return source;
}

export function over(stubs: readonly (Stub | ChannelSource)[], options: Partial<FailoverOptions> = {}): Failover {
  const sources = stubs.map((stub) => ('resolve' in stub ? stub : createStub(stub)));
  return createFailover({ sources, clock: createManualClock(), ...options });
}

export const catalog = (channel: Answer<LoadedChannel>): Stub => ({ name: 'catalog', isLive: false, channel });
export const live = (channel: Answer<LoadedChannel>): Stub => ({ name: 'live', channel });

export async function codeOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => 'found',
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
}
