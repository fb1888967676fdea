import type { Channel } from '../../src/domain/channel.ts';
import { AppError } from '../../src/domain/errors.ts';
import { compactCopy } from '../../src/lib/compact-copy.ts';
import type { ChannelSource, LoadedChannel } from '../../src/sources/source.ts';

/** The ID of one of the channels of `numberedSource`. */
export function numberedChannelId(number: number): string {
  return `UC${String(number).padStart(22, '0')}`;
}

/** A live source that has a channel for every ID and finds nothing by other means. */
export function numberedSource(): ChannelSource {
  return {
    name: 'numbered',
    isLive: true,
    async resolve() {
      throw new AppError('channel_not_found', 'There is no such channel.');
    },
    // A copy, as if it had been read from an answer: what was asked for may be a part of a long URL, which it keeps.
    getChannel: async (channelId) => loadedChannel(compactCopy(channelId)),
    search: async () => ({ hits: [] }),
    close: async () => undefined,
  };
}

function loadedChannel(channelId: string): LoadedChannel {
  const channel: Channel = {
    channelId,
    title: `Channel ${channelId}`,
    description: 'One of many.',
    customUrl: null,
    publishedAt: null,
    country: null,
    subscriberCount: '1',
    viewCount: '1',
    videoCount: '1',
    links: [],
    banner: { kind: 'remote', key: channelId, urls: [] },
    avatar: { kind: 'remote', key: channelId, urls: [] },
  };
  return { channel, isComplete: true, missing: [] };
}
